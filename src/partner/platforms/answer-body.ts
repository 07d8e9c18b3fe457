import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** An answer of more bytes than are read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

interface Incoming extends Readable {
  readonly headers: { readonly 'content-encoding'?: string | undefined };
  readonly complete: boolean;
}

/**
 * Reads an answer of at most `mostBytes`, as it is sent and as it unpacks: a small packed body that grows without
 * end is cut off as soon as it passes the limit.
 * @throws AnswerTooLarge; an error when the connection ended before the body did, or the packing is unknown or broken
 */
export async function readAnswer(incoming: Incoming, mostBytes: number): Promise<Uint8Array> {
  const packed = await collected(incoming, mostBytes);
  if (!incoming.complete) throw new Error('the answer was cut off');
  const stream = unpackerOf(incoming.headers['content-encoding'] ?? '');
  if (stream === undefined) throw new Error('the answer is packed in an unknown way');
  if (stream === null) return packed;
  stream.end(packed);
  return collected(stream, mostBytes);
}

/** null: as it is; undefined: a packing that is not known. */
function unpackerOf(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

async function collected(stream: Readable, mostBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    // Leaving the loop destroys the stream.
    if (length > mostBytes) throw new AnswerTooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
