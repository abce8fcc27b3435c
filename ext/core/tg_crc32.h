/* tg_crc32.h - CRC-32 of IEEE 802.3, as zlib computes it.
 *
 * Rules
 *  - tg_crc32(0, ptr, len) is the checksum of the bytes; with the checksum of what came before as
 *    crc it goes on from there.
 */
#ifndef TG_CRC32_H
#define TG_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t tg_crc32(uint32_t crc, const uint8_t *ptr, size_t len);

#endif
