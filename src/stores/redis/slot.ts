import { toUtf8 } from '../../request/bytes.js';

const SLOTS = 16_384;

/** The slot of a cluster that keeps a key whose tag is in braces: CRC16 of the tag, as XMODEM has it. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of toUtf8(tagOf(key))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  }
  return (crc & 0xffff) % SLOTS;
}

/** What shares it is kept by the same node. */
export function tagOf(key: string): string {
  return key.slice(key.indexOf('{') + 1, key.indexOf('}'));
}
