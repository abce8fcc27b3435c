/* events.js - eventsource-parser over the chunks of a seeded stream, timed inside node.
 *
 * Rules
 *  - From bytes to the type and the text of each event: a streaming TextDecoder, then the parser.
 *  - One run comes before those that are timed, and gives the digest of what was read.
 *
 * usage: node events.js PATH_OF_eventsource-parser < request
 * request: {"file": PATH, "sizes": [bytes of each chunk], "rounds": N}
 * answer:  {"version": V, "node": V, "count": N, "sha256": HEX, "ns": [of each round]}
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { createParser } = await import(pathToFileURL(join(folder, "dist", "index.js")));
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { file, sizes, rounds } = JSON.parse(readFileSync(0, "utf8"));
const data = readFileSync(file);
const chunks = [];
let start = 0;
for (const size of sizes) {
  chunks.push(data.subarray(start, start + size));
  start += size;
}

function run(onEvent) {
  const decoder = new TextDecoder("utf-8");
  const parser = createParser({ onEvent });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
}

const digest = createHash("sha256");
let count = 0;
run((event) => {
  count += 1;
  digest.update(`${event.event ?? "message"}\0${event.data}\0`);
});

const ns = [];
let length = 0;
for (let round = 0; round < rounds; round += 1) {
  const begin = process.hrtime.bigint();
  run((event) => {
    length += event.data.length + (event.event ?? "").length;
  });
  ns.push(Number(process.hrtime.bigint() - begin));
}
const answer = { version, node: process.version, count, sha256: digest.digest("hex"), ns, length };
process.stdout.write(`${JSON.stringify(answer)}\n`);
