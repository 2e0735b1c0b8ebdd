package fence

import "strings"

// slots is how many hash slots a Redis Cluster has.
const slots = 16384

// slot is the hash slot of a key: CRC-16 (polynomial 0x1021, initial value 0) of
// its hash tag, or of all of it when it has none, as the Cluster specification
// says. The tag is what stands between the first { and the next }, if anything.
func slot(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % slots
}
