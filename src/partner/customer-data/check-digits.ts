/** The arithmetic that the numbers of banks and tax offices share. All take digits only unless they say otherwise. */

/** Each character's value (digits as themselves, capitals as ASCII minus 48) times the weight at its place, summed. */
export function weightedSum(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, place) => sum + weight * ((text.codePointAt(place) ?? 48) - 48), 0);
}

/** ISO/IEC 7812: every second digit from the right doubled, digits of the products summed, a multiple of ten. */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** ISO 7064 MOD 11,10: the check digit is the last. */
export function isMod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

/**
 * CRC-16 over ASCII text or bytes with the polynomial 0x1021, no reflection, as EMV (start 0xFFFF) and TON
 * (XMODEM, start 0) use it.
 */
export function crc16(bytes: Uint8Array, start: 0xffff | 0): number {
  let crc: number = start;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1;
  }
  return crc;
}
