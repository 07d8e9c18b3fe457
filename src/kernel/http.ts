/**
 * Requests and answers as plain values, between clients and services. What goes out to the network, or comes in from it,
 * is turned into them at the door: the platform's own classes bring a whole HTTP client with them, which is a third of
 * what a short command may take.
 */

export type HttpHeaders = Readonly<Record<string, string>>;

export interface HttpRequest {
  readonly method: string;
  /** With scheme and host. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body: HttpBody;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Text, empty where there is none; or bytes as they come in. */
type HttpBody = string | AsyncIterable<Uint8Array>;

/** Sends a request to a service, of this process or over the network. */
export type Fetch = (request: HttpRequest & { readonly body: string }) => Promise<HttpResponse>;

export class HttpResponse {
  readonly headers: HttpHeaders;

  /** @param body null where there is none, which an empty text is not */
  constructor(
    readonly status: number,
    readonly body: string | null,
    headers: HttpHeaders = {},
  ) {
    this.headers = lowerCase(headers);
  }
}

export const json = (value: unknown, status = 200, headers: HttpHeaders = {}): HttpResponse =>
  new HttpResponse(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });

/** Headers as they are written, by their names in lower case. */
export const lowerCase = (headers: HttpHeaders): HttpHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]));

/** The value of a header, however its name is written here. */
export const headerOf = ({ headers }: { readonly headers: HttpHeaders }, name: string): string | null =>
  headers[name.toLowerCase()] ?? null;

/** Reads a body, and gives it up as soon as it is too large: null. */
export async function readBody(body: HttpBody, mostBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of typeof body === 'string' ? [Buffer.from(body)] : body) {
    length += chunk.length;
    if (length > mostBytes) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
