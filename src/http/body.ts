import { problem } from '../kernel/problems.ts';

/**
 * The bytes of a request's body, read no further than they are allowed to go: a body without a length is given up as
 * soon as it is too large.
 * @throws Problem `payload_too_large`; `body_incomplete` when the client goes away meanwhile
 */
export async function readBytes(request: Request, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    problem('payload_too_large', { message: `The body is larger than ${mostBytes / 1024} KiB.` });
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const read = await reader?.read().catch((cause: unknown) => {
      throw problem('body_incomplete', { cause });
    });
    if (!read || read.done) break;
    length += read.value.length;
    if (length > mostBytes) {
      await reader?.cancel();
      throw tooLarge();
    }
    chunks.push(read.value);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The media type of a request, without its parameters. */
export const mediaTypeOf = (request: Request): string | undefined =>
  request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
