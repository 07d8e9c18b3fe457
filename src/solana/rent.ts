/** Lamports that keep an account of `dataLength` bytes alive: 6,960 per byte, and 128 bytes for the account itself. */
export const minimumRent = (dataLength: number): bigint => (BigInt(dataLength) + 128n) * 6960n;
