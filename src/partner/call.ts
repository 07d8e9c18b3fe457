import type * as z from 'zod';
import type { DeclaredAnswer, HeaderParameter, LazySchema, Route } from '../http/routes.ts';
import { type HttpHeaders, headerOf, json } from '../kernel/http.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import type { Standing } from './compliance/standing.ts';
import { createAnswers, idempotencyOf } from './idempotency.ts';
import type { PartnerPorts } from './ports.ts';
import type { Tx } from './tables.ts';

/** The partner whose key was sent. */
export interface CallingPartner {
  readonly partnerId: string;
  readonly name: string;
  readonly type: 'INTEGRATION' | 'REDIRECT';
  readonly keyId: string;
}

/** One authenticated call of a procedure. */
export interface Call {
  readonly partner: CallingPartner;
  /** Whose token was sent; null where the procedure concerns no one customer. */
  readonly customerId: string | null;
  /** X-Request-Id of the answer. */
  readonly requestId: string;
  readonly headers: HttpHeaders;
  readonly nowMs: number;
  /**
   * The Idempotency-Key of a procedure that writes, as a keyed hash that is one caller's and one procedure's, and the
   * digest of the request that it came with. Null without the header.
   */
  readonly idempotency: { readonly handle: string; readonly requestDigest: string } | null;
  /**
   * Runs a change as one immediate transaction, and remembers its answer there: with an Idempotency-Key, the first
   * answer is given again and `work` does not run. A problem rolls everything back and is remembered by itself.
   */
  write<T extends object>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** The ports of procedures. */
export interface PartnerService {
  readonly ports: PartnerPorts;
  readonly standing: () => Promise<Standing>;
}

/** The same, and who calls. */
export interface Caller extends PartnerService {
  readonly partner: CallingPartner;
  readonly customerId: string | null;
}

/** A procedure as it is written: what it takes, whom it concerns, what it does. */
interface Written<I extends z.ZodType> {
  readonly service: 'partner' | 'customer';
  readonly name: string;
  readonly summary: string;
  /** After ProtoJSON's forms were made one: camelCase names, nulls left out. Strict: unknown fields are refused. */
  readonly input: LazySchema<I>;
  readonly output: LazySchema;
  /** `customer`: a customer's token is needed too. */
  readonly concerns: 'partner' | 'customer';
  /** It changes something: Idempotency-Key counts. */
  readonly writes: boolean;
  readonly mostBodyBytes?: number;
  readonly headers?: readonly HeaderParameter[];
  /** The answer has the order's version as ETag. */
  readonly versioned?: true;
  readonly codes?: readonly ProblemCode[];
  run(service: PartnerService, call: Call, input: z.output<I>): Promise<object>;
}

const CONNECT_HEADERS: readonly HeaderParameter[] = [
  { name: 'Connect-Protocol-Version', description: 'As Connect clients send it.', schema: { const: '1' } },
  {
    name: 'Connect-Timeout-Ms',
    description: 'As Connect clients send it.',
    schema: { type: 'string', pattern: '^\\d{1,10}$' },
  },
];
const IDEMPOTENCY_KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  description:
    'For 24 hours the first answer is given again to the same request, and another request is refused.',
  schema: { type: 'string', maxLength: 255 },
};
const ETAG: DeclaredAnswer['headers'] = {
  ETag: { schema: { type: 'string' }, description: "The order's version, for If-Match." },
};

/** A procedure as a route; its path is below the name of the service (routes.ts). */
export function procedure<I extends z.ZodType>(written: Written<I>): Route<Caller> {
  const { service, name, concerns, writes, versioned } = written;
  const operation = `${service}/${name}`;
  return {
    method: 'POST',
    path: operation,
    id: name,
    tag: service,
    summary: written.summary,
    security: [concerns === 'customer' ? ['apiKey', 'customerToken'] : ['apiKey']],
    headers: [...CONNECT_HEADERS, ...(writes ? [IDEMPOTENCY_KEY] : []), ...(written.headers ?? [])],
    body: written.input,
    ...(written.mostBodyBytes === undefined ? {} : { mostBodyBytes: written.mostBodyBytes }),
    answers: {
      200: { description: 'Done.', schema: written.output, ...(versioned && ETAG ? { headers: ETAG } : {}) },
    },
    codes: [
      ...(concerns === 'customer'
        ? (['customer_token_required', 'customer_token_invalid', 'customer_blocked'] as const)
        : []),
      ...(writes ? (['idempotency_key_reused'] as const) : []),
      ...(written.codes ?? []),
    ],
    async run({ context, request, requestId, body }) {
      const { ports, partner, customerId } = context;
      const answers = createAnswers(ports);
      const idempotency = writes
        ? idempotencyOf(
            ports,
            headerOf(request, 'idempotency-key'),
            `${partner.partnerId} ${customerId ?? ''}`,
            operation,
            { input: body, ifMatch: headerOf(request, 'if-match') },
          )
        : null;
      const call: Call = {
        partner,
        customerId,
        requestId,
        headers: request.headers,
        nowMs: ports.clock.now(),
        idempotency,
        write: (work) => answers.write(idempotency, work),
      };
      const first = idempotency && (await answers.recall(idempotency));
      const answer = first ?? (await written.run(context, call, body as z.output<I>));
      return json(answer, 200, versioned ? etagOf(answer) : {});
    },
  };
}

const etagOf = (answer: object): Record<string, string> =>
  'order' in answer ? { ETag: `"${(answer.order as { version: number }).version}"` } : {};
