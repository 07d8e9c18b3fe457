/** Plain requests and answers: Node's own classes load an HTTP client, a third of a short command's time. */

export type HttpHeaders = Readonly<Record<string, string>>;

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body: HttpBody;
  readonly signal?: AbortSignal | undefined;
  /** Facts learnt while answering, for logs and metrics. */
  readonly trail?: Trail | undefined;
}

export interface Trail {
  /** The declared path of its route. */
  route?: string;
  paymentId?: string | null;
  intentId?: string | undefined;
}

/** Text, which may be empty, or a stream of bytes. */
type HttpBody = string | AsyncIterable<Uint8Array>;

/** Sends a request within this process or over the network. */
export type Fetch = (request: HttpRequest & { readonly body: string }) => Promise<HttpResponse>;

export class HttpResponse {
  readonly headers: HttpHeaders;

  /** @param body null for no body, which differs from an empty one */
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

export const lowerCase = (headers: HttpHeaders): HttpHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]));

export const headerOf = ({ headers }: { readonly headers: HttpHeaders }, name: string): string | null =>
  headers[name.toLowerCase()] ?? null;

/** Reads a body; returns null if it is larger than the limit. */
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
