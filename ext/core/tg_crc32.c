/* tg_crc32.c - eight bytes at a time through eight tables ("slicing-by-8").
 *
 * Theory of operation
 *   Table k holds, for each byte, its contribution when k more bytes follow it. A CRC is linear:
 * the entry of a byte is the sum (XOR) of the entries of its bits. So 64 numbers make the tables,
 * and these are one after another the states of the register from 0xedb88320 on. The compiler
 *   computes the 2048 entries; the tests compare the result with the definition, bit by bit.
 *
 * Refuses: CRC instructions; a message is checked once, and its copy into an object costs more.
 */
#include "tg_crc32.h"

/* X(table, entries of the bits 0x80, 0x40 ... 0x01) */
#define CRC32_BITS(X)                                                                  \
    X(0, 0xedb88320u, 0x76dc4190u, 0x3b6e20c8u, 0x1db71064u, 0x0edb8832u, 0x076dc419u, \
      0xee0e612cu, 0x77073096u)                                                        \
    X(1, 0x3b83984bu, 0xf0794f05u, 0x958424a2u, 0x4ac21251u, 0xc8d98a08u, 0x646cc504u, \
      0x32366282u, 0x191b3141u)                                                        \
    X(2, 0xe1351b80u, 0x709a8dc0u, 0x384d46e0u, 0x1c26a370u, 0x0e1351b8u, 0x0709a8dcu, \
      0x0384d46eu, 0x01c26a37u)                                                        \
    X(3, 0xed59b63bu, 0x9b14583du, 0xa032af3eu, 0x5019579fu, 0xc5b428efu, 0x8f629757u, \
      0xaa09c88bu, 0xb8bc6765u)                                                        \
    X(4, 0xb1e6b092u, 0x58f35849u, 0xc1c12f04u, 0x60e09782u, 0x30704bc1u, 0xf580a6c0u, \
      0x7ac05360u, 0x3d6029b0u)                                                        \
    X(5, 0x1eb014d8u, 0x0f580a6cu, 0x07ac0536u, 0x03d6029bu, 0xec53826du, 0x9b914216u, \
      0x4dc8a10bu, 0xcb5cd3a5u)                                                        \
    X(6, 0x8816eaf2u, 0x440b7579u, 0xcfbd399cu, 0x67de9cceu, 0x33ef4e67u, 0xf44f2413u, \
      0x979f1129u, 0xa6770bb4u)                                                        \
    X(7, 0x533b85dau, 0x299dc2edu, 0xf9766256u, 0x7cbb312bu, 0xd3e51bb5u, 0x844a0efau, \
      0x4225077du, 0xccaa009eu)

#define CRC32_ENTRY(i, h, g, f, e, d, c, b, a)                                     \
    ((((i) >> 7 & 1u) * (h)) ^ (((i) >> 6 & 1u) * (g)) ^ (((i) >> 5 & 1u) * (f)) ^ \
     (((i) >> 4 & 1u) * (e)) ^ (((i) >> 3 & 1u) * (d)) ^ (((i) >> 2 & 1u) * (c)) ^ \
     (((i) >> 1 & 1u) * (b)) ^ (((i)&1u) * (a)))
#define CRC32_4(i, ...)                                                \
    CRC32_ENTRY((i), __VA_ARGS__), CRC32_ENTRY((i) + 1u, __VA_ARGS__), \
        CRC32_ENTRY((i) + 2u, __VA_ARGS__), CRC32_ENTRY((i) + 3u, __VA_ARGS__)
#define CRC32_16(i, ...)                                                                       \
    CRC32_4((i), __VA_ARGS__), CRC32_4((i) + 4u, __VA_ARGS__), CRC32_4((i) + 8u, __VA_ARGS__), \
        CRC32_4((i) + 12u, __VA_ARGS__)
#define CRC32_64(i, ...)                                          \
    CRC32_16((i), __VA_ARGS__), CRC32_16((i) + 16u, __VA_ARGS__), \
        CRC32_16((i) + 32u, __VA_ARGS__), CRC32_16((i) + 48u, __VA_ARGS__)
#define CRC32_TABLE(table, ...)                                                                    \
    [table] = {CRC32_64(0u, __VA_ARGS__), CRC32_64(64u, __VA_ARGS__), CRC32_64(128u, __VA_ARGS__), \
               CRC32_64(192u, __VA_ARGS__)},

static const uint32_t crc32_table[8][256] = {CRC32_BITS(CRC32_TABLE)};

/* Four bytes, the first one lowest, on any machine. */
static inline uint32_t
crc32_load(const uint8_t *ptr)
{
    return (uint32_t)ptr[0] | (uint32_t)ptr[1] << 8 | (uint32_t)ptr[2] << 16 |
           (uint32_t)ptr[3] << 24;
}

uint32_t
tg_crc32(uint32_t crc, const uint8_t *ptr, size_t len)
{
    crc = ~crc;
    while (len >= 8) {
        const uint32_t low = crc ^ crc32_load(ptr);
        const uint32_t high = crc32_load(ptr + 4);

        crc = crc32_table[7][low & 0xff] ^ crc32_table[6][low >> 8 & 0xff] ^
              crc32_table[5][low >> 16 & 0xff] ^ crc32_table[4][low >> 24] ^
              crc32_table[3][high & 0xff] ^ crc32_table[2][high >> 8 & 0xff] ^
              crc32_table[1][high >> 16 & 0xff] ^ crc32_table[0][high >> 24];
        ptr += 8;
        len -= 8;
    }
    while (len > 0) {
        crc = crc32_table[0][(crc ^ *ptr) & 0xff] ^ crc >> 8;
        ptr++;
        len--;
    }
    return ~crc;
}
