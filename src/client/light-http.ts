/**
 * Requests and responses between a command and the services in its own process. They have the interface of the
 * platform's, as far as Hono and both sides use it, and are plain values: the platform's bring a whole HTTP client
 * with them, which is a third of what a short command may take.
 */

type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>> | undefined;
type Content = string | Uint8Array | ArrayBuffer | LightStream | null | undefined;

class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(init?: Init) {
    if (init === undefined) return;
    const pairs =
      Symbol.iterator in init ? (init as Iterable<readonly [string, string]>) : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this) visit(value, name);
  }

  keys(): IterableIterator<string> {
    return this.#sorted()
      .map(([name]) => name)
      .values();
  }

  values(): IterableIterator<string> {
    return this.#sorted()
      .map(([, value]) => value)
      .values();
  }

  entries(): IterableIterator<[string, string]> {
    return this.#sorted().values();
  }

  /** By name, as the platform's go through them. */
  #sorted(): [string, string][] {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  getSetCookie(): string[] {
    return [];
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/** The one chunk of a body. */
class LightStream {
  isRead = false;

  constructor(readonly bytes: Uint8Array) {}

  getReader() {
    return {
      read: async () => {
        if (this.isRead) return { done: true, value: undefined };
        this.isRead = true;
        return { done: false, value: this.bytes };
      },
      cancel: () => this.cancel(),
      releaseLock: () => undefined,
    };
  }

  async cancel(): Promise<void> {
    this.isRead = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { value } = await this.getReader().read();
    if (value) yield value;
  }
}

/** A body that was read cannot be read again, as with the platform's. */
class LightMessage {
  readonly headers: LightHeaders;
  readonly body: LightStream | null;

  constructor(content: Content, headers: Init) {
    this.headers = new LightHeaders(headers);
    this.body = streamOf(content);
    if (typeof content === 'string' && !this.headers.has('content-type')) {
      this.headers.set('content-type', 'text/plain;charset=UTF-8');
    }
  }

  get bodyUsed(): boolean {
    return this.body?.isRead ?? false;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(await this.bytes()).buffer;
  }

  async bytes(): Promise<Uint8Array> {
    const bytes = this.unread();
    await this.body?.cancel();
    return bytes ?? new Uint8Array();
  }

  protected unread(): Uint8Array | null {
    if (this.bodyUsed) throw new TypeError('Body has already been read');
    return this.body?.bytes ?? null;
  }
}

function streamOf(content: Content): LightStream | null {
  if (content === null || content === undefined) return null;
  if (typeof content === 'string') return new LightStream(new TextEncoder().encode(content));
  return new LightStream(content instanceof LightStream ? content.bytes : new Uint8Array(content));
}

interface RequestInitLight {
  readonly method?: string;
  readonly headers?: Init;
  readonly body?: Content;
  readonly signal?: AbortSignal;
}

class LightRequest extends LightMessage {
  readonly url: string;
  readonly method: string;
  readonly signal: AbortSignal | undefined;

  constructor(url: string | URL | LightRequest, init: RequestInitLight = {}) {
    const given = url instanceof LightRequest ? url : null;
    super(init.body ?? given?.unread(), init.headers ?? given?.headers);
    this.url = given?.url ?? new URL(String(url)).href;
    this.method = (init.method ?? given?.method ?? 'GET').toUpperCase();
    this.signal = init.signal ?? given?.signal;
  }

  clone(): LightRequest {
    return new LightRequest(this);
  }
}

interface ResponseInitLight {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: Init;
}

class LightResponse extends LightMessage {
  readonly status: number;
  readonly statusText: string;

  constructor(content?: Content, init: ResponseInitLight = {}) {
    super(content, init.headers);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): LightResponse {
    return new LightResponse(this.unread(), this);
  }

  static json(value: unknown, init: ResponseInitLight = {}): LightResponse {
    const headers = new LightHeaders(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new LightResponse(JSON.stringify(value), { ...init, headers });
  }
}

/**
 * Puts them in the place of the platform's, for this process: before a service in it is first called, and never where
 * requests go out to the network.
 */
export function useLightHttp(): void {
  const light = { Headers: LightHeaders, Request: LightRequest, Response: LightResponse };
  for (const [name, value] of Object.entries(light)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}
