import type * as z from 'zod';
import { type HeaderParameter, type LazySchema, type Route, refuse } from '../../http/index.ts';
import { type HttpHeaders, type HttpRequest, headerOf, json } from '../../kernel/http.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { isProblem, type Problem, type ProblemCode, problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import { removeOld } from '../../store/index.ts';
import type { PartnerPorts } from './ports.ts';
import type { Tx } from './tables.ts';

export interface CallingPartner {
  readonly partnerId: string;
  readonly name: string;
  readonly type: 'INTEGRATION' | 'REDIRECT';
  readonly keyId: string;
}

/** Keyed hashes of an Idempotency-Key (for one caller and procedure) and of the request that it came with. */
interface IdempotencyHandle {
  readonly handle: string;
  readonly requestDigest: string;
}

export interface Call {
  readonly partner: CallingPartner;
  /** The customer of the token; null for a procedure that takes no customer token. */
  readonly customerId: string | null;
  readonly requestId: string;
  readonly headers: HttpHeaders;
  readonly nowMs: number;
  /** Null if the header is missing, or the procedure does not write. */
  readonly idempotency: IdempotencyHandle | null;
  /**
   * Runs a change in one immediate transaction, which also saves the answer to an Idempotency-Key. A repeated key gets
   * that answer, and `work` does not run. A problem rolls all back, and is then saved as the answer.
   * @param turns name what `work` reads before it writes
   */
  write<T extends object>(turns: readonly string[], work: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface Caller extends Pick<Call, 'partner' | 'customerId'> {
  readonly ports: PartnerPorts;
}

/** The definition of a procedure. */
interface Written<I extends z.ZodType> {
  readonly service: 'partner' | 'customer';
  readonly name: string;
  readonly summary: string;
  /** Reads normalised ProtoJSON (camelCase names, no nulls), and refuses unknown fields. */
  readonly input: LazySchema<I>;
  readonly output: LazySchema;
  /** The procedure also needs a customer's token. */
  readonly ofCustomer?: true;
  /** Changes something, so accepts an Idempotency-Key. */
  readonly writes?: true;
  readonly mostBodyBytes?: number;
  readonly headers?: readonly HeaderParameter[];
  /** The answer has the order's version as ETag. */
  readonly versioned?: true;
  readonly codes?: readonly ProblemCode[];
  run(ports: PartnerPorts, call: Call, input: z.output<I>): Promise<object>;
}

const CONNECT_HEADERS: readonly HeaderParameter[] = [
  { name: 'Connect-Protocol-Version', description: 'As Connect clients send it.', schema: { const: '1' } },
  {
    name: 'Connect-Timeout-Ms',
    description: 'As Connect clients send it.',
    schema: { type: 'string', pattern: '^\\d{1,10}$' },
  },
];

const MOST_KEY = 255;
const IDEMPOTENCY_KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  description: 'For 24 hours the first answer is given again to the same request, and another request is refused.',
  schema: { type: 'string', maxLength: MOST_KEY },
};

const ETAG = { ETag: { schema: { type: 'string' }, description: "The order's version, for If-Match." } };

const TOKEN_CODES = ['customer_token_required', 'customer_token_invalid', 'customer_blocked'] as const;

/** Makes a route of a procedure; routes.ts puts the service's name before its path. */
export function procedure<I extends z.ZodType>(written: Written<I>): Route<Caller> {
  const { service, name, input, output, ofCustomer, writes, versioned, headers = [], codes = [], ...route } = written;
  const operation = `${service}/${name}`;
  return {
    ...route,
    method: 'POST',
    path: operation,
    id: name,
    tag: service,
    security: [ofCustomer ? ['apiKey', 'customerToken'] : ['apiKey']],
    headers: [...CONNECT_HEADERS, ...(writes ? [IDEMPOTENCY_KEY] : []), ...headers],
    body: input,
    answers: { 200: { description: 'Done.', schema: output, ...(versioned && { headers: ETAG }) } },
    codes: [...(ofCustomer ? TOKEN_CODES : []), ...(writes ? ['idempotency_key_reused' as const] : []), ...codes],
    async run({ context, request, requestId, body }) {
      const { ports, ...caller } = context;
      const answers = createAnswers(ports);
      const idempotency = writes ? idempotencyOf(context, operation, request, body) : null;
      const call: Call = {
        ...caller,
        requestId,
        headers: request.headers,
        nowMs: ports.clock.now(),
        idempotency,
        write: (turns, work) => answers.write(idempotency, turns, work),
      };
      const first = idempotency && (await answers.recall(idempotency));
      const answer = first ?? (await written.run(ports, call, body as z.output<I>));
      return json(answer, 200, versioned ? etagOf(answer) : {});
    },
  };
}

const etagOf = (answer: object): Record<string, string> =>
  'order' in answer ? { ETag: `"${(answer.order as { version: number }).version}"` } : {};

/** Hashes the key with its caller and procedure, and the request with If-Match. @throws Problem `invalid_request` */
function idempotencyOf(
  { ports: { secrets }, partner, customerId }: Caller,
  operation: string,
  request: HttpRequest,
  input: unknown,
): IdempotencyHandle | null {
  const key = headerOf(request, 'idempotency-key');
  if (key === null) return null;
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > MOST_KEY)
    return refuse([{ path: 'Idempotency-Key', message: `must be 1 to ${MOST_KEY} ASCII characters.` }]);
  const caller = `${partner.partnerId} ${customerId ?? ''}`;
  return {
    handle: secrets.hmac('idempotency key', canonicalJson([caller, operation, key])),
    // Keyed, because the data behind a plain hash could be guessed.
    requestDigest: secrets.hmac('idempotent request', canonicalJson({ input, ifMatch: headerOf(request, 'if-match') })),
  };
}

type AnswerPorts = Pick<PartnerPorts, 'store' | 'secrets' | 'clock' | 'options'>;

type Remembered =
  | { readonly answer: object }
  | { readonly refusal: Pick<Problem, 'code' | 'message' | 'fix' | 'detail'> };

/** Keeps the first answer to each Idempotency-Key for 24 hours (CONTRACT, section 11). */
export function createAnswers(ports: AnswerPorts) {
  const { store, secrets, clock, options } = ports;
  const place = (handle: string) => `partner_answers.answer_sealed.${handle}`;
  const turnOf = ({ handle }: IdempotencyHandle) => `partner_answers:${handle}`;

  async function recall(tx: Tx | AnswerPorts['store'], key: IdempotencyHandle): Promise<object | null> {
    const row = await tx
      .selectFrom('partner_answers')
      .selectAll()
      .where('handle', '=', key.handle)
      .where('expires_at_ms', '>', clock.now())
      .executeTakeFirst();
    if (!row) return null;
    if (row.request_digest !== key.requestDigest) throw problem('idempotency_key_reused');
    const remembered = JSON.parse(secrets.decrypt(place(key.handle), row.answer_sealed)) as Remembered;
    if ('answer' in remembered) return remembered.answer;
    const { code, message, fix, detail } = remembered.refusal;
    throw problem(code, { message, fix, ...(detail ? { detail } : {}) });
  }

  async function remember(tx: Tx, key: IdempotencyHandle, status: number, remembered: Remembered): Promise<void> {
    const nowMs = clock.now();
    await removeOld(tx, { table: 'partner_answers', key: 'handle', at: 'expires_at_ms' }, nowMs);
    await tx
      .insertInto('partner_answers')
      .values({
        handle: key.handle,
        request_digest: key.requestDigest,
        status,
        answer_sealed: secrets.encrypt(place(key.handle), JSON.stringify(remembered)),
        expires_at_ms: nowMs + options.answersKeptMs,
      })
      .execute();
  }

  /** Saves a refusal. If a faster call with the same key was answered first, returns that answer instead. */
  const refused = (key: IdempotencyHandle, error: Problem): Promise<object | null> =>
    inTurn(store, [turnOf(key)], async (tx) => {
      const first = await recall(tx, key);
      const { code, message, fix, detail } = error;
      if (!first) await remember(tx, key, error.status, { refusal: { code, message, fix, detail } });
      return first;
    });

  return {
    /** Returns the first answer, or null. @throws Problem `idempotency_key_reused`, or the first answer's refusal */
    recall: (key: IdempotencyHandle) => recall(store, key),

    /**
     * Runs a change and saves its answer in one immediate transaction, so that a crash leaves both or neither. Also
     * saves final refusals (below 429), but no rate limit and no outage.
     */
    async write<T extends object>(
      key: IdempotencyHandle | null,
      turns: readonly string[],
      work: (tx: Tx) => Promise<T>,
    ): Promise<T> {
      if (key === null) return inTurn(store, turns, work);
      try {
        return await inTurn(store, [...turns, turnOf(key)], async (tx) => {
          const first = await recall(tx, key);
          if (first) return first as T;
          const answer = await work(tx);
          await remember(tx, key, 200, { answer });
          return answer;
        });
      } catch (error) {
        if (!isProblem(error) || error.code === 'idempotency_key_reused' || error.status >= 429) throw error;
        const first = await refused(key, error);
        if (first) return first as T;
        throw error;
      }
    },
  };
}
