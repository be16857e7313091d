import { toUtf8 } from '../../runtime/bytes.js';

const SLOTS = 16_384;

/** Returns the cluster slot of a key whose tag is in braces: the CRC16 (XMODEM) of the tag. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of toUtf8(tagOf(key))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  }
  return (crc & 0xffff) % SLOTS;
}

/** Returns the tag of a key. Keys with the same tag are on the same node. */
export function tagOf(key: string): string {
  return key.slice(key.indexOf('{') + 1, key.indexOf('}'));
}
