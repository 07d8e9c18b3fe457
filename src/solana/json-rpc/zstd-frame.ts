const MOST_BLOCK_BYTES = 128 * 1024;

/**
 * `data` as a Zstandard frame of uncompressed blocks (RFC 8878, 3.1.1): valid for every reader of `base64+zstd`,
 * without a compressor, which Node 20 does not have.
 */
export function zstdFrame(data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32LE(0xfd2fb528, 0);
  header[4] = 0xe0; // The content size in 8 bytes, one segment, no checksum, no dictionary.
  header.writeBigUInt64LE(BigInt(data.length), 5);
  const parts: Uint8Array[] = [header];
  for (let at = 0; at === 0 || at < data.length; at += MOST_BLOCK_BYTES) {
    const block = data.subarray(at, at + MOST_BLOCK_BYTES);
    const isLast = at + MOST_BLOCK_BYTES >= data.length ? 1 : 0;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((block.length << 3) | isLast, 0, 3);
    parts.push(blockHeader, block);
  }
  return Buffer.concat(parts);
}
