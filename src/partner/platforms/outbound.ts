import type { Selectable } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { type Fetch, headerOf } from '../../kernel/http.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { OutboundGiven, OutboundLimits, PartnerPorts, PartnerTable } from '../base/index.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { type OutboundOperation, type OutboundResult, refusalOf } from './messages.ts';
import { createOutboundAudit, type OutboundAudit } from './outbound-audit.ts';
import {
  type Attempt,
  checkPartnerUrl,
  type GuardedUrl,
  type GuardRules,
  guardedRequest,
  type OutboundMessage,
  outboundLimits,
  systemResolver,
} from './ssrf-guard.ts';
import { signWebhook } from './webhook-signature.ts';

export type PartnerRow = Selectable<PartnerTable>;

/** The facts about a partner that a call needs. */
export interface OutboundPartner {
  readonly partnerId: string;
  readonly platformUrl: string;
  /** True if the partner has left `platformUrl`. The breaker then ignores the call. */
  readonly hasMoved: boolean;
  /** Standard Webhooks secrets, newest first; two during a rotation. */
  readonly webhookSecrets: readonly string[];
}

interface OutboundCall {
  readonly operation: OutboundOperation;
  /** The order's id, sent as `Idempotency-Key` and `webhook-id` with every try. */
  readonly subject: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OutboundPorts extends Omit<OutboundGiven, 'random' | 'embedded'> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly breaker: Breaker;
  readonly audit: OutboundAudit;
  readonly rules: GuardRules;
  readonly embedded: Fetch | null;
}

const MOST_TRIES = 3;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;
const TRY_AGAIN = new Set([502, 503, 504]);

/**
 * Calls partners' platforms (CONTRACT, section 13): the address is guarded, and each try is signed and logged. Network
 * errors, 502, 503 and 504 are retried with full jitter: at most three tries, within 10 seconds in all.
 */
export const createOutbound = (ports: OutboundPorts) => ({
  /** @throws Problem `partner_url_refused` */
  send: (partner: OutboundPartner, call: OutboundCall): Promise<OutboundResult> => send(ports, partner, call),
});

async function send(ports: OutboundPorts, partner: OutboundPartner, call: OutboundCall): Promise<OutboundResult> {
  const body = JSON.stringify(call.body);
  const note: Note = (entry) =>
    ports.audit.write({
      partnerId: partner.partnerId,
      subject: call.subject,
      operation: call.operation,
      request: body,
      durationMs: 0,
      status: null,
      answer: null,
      ...entry,
    });
  const stopped = (outcome: string, reason: string | null) =>
    note({ attempt: 0, atMs: ports.clock.now(), outcome, reason });
  const guarded = await notingRefusal(stopped, async () => checkPartnerUrl(partner.platformUrl, ports.rules));
  const admitted = partner.hasMoved ? ({ open: false } as const) : await ports.breaker.admit(partner.partnerId);
  if (admitted.open) {
    await stopped('breaker_open', null);
    return { kind: 'unavailable', mayHaveActed: false, retryAfterMs: admitted.retryAfterMs };
  }
  const result = await tryUntilAnswered(ports, call.operation, note, async (remainingMs) => {
    const message = messageTo(guarded, partner, call, body, ports.clock.now());
    return notingRefusal(stopped, () => tried(ports, guarded, message, remainingMs));
  });
  if (!partner.hasMoved)
    await ports.breaker.record(partner.partnerId, result.kind !== 'unavailable' && result.status < 500);
  return result;
}

type Entry = Parameters<OutboundAudit['write']>[0];

type Note = (entry: Pick<Entry, 'attempt' | 'atMs' | 'outcome' | 'reason'> & Partial<Entry>) => Promise<void>;

/** Tries until an answer counts, or tries or time run out. @param attemptWithin makes one try within so many ms */
async function tryUntilAnswered(
  ports: OutboundPorts,
  operation: OutboundOperation,
  note: Note,
  attemptWithin: (remainingMs: number) => Promise<Attempt>,
): Promise<OutboundResult> {
  const { clock } = ports;
  const { totalMs } = ports.limits ?? outboundLimits;
  const startedMs = clock.now();
  let mayHaveActed = false;
  let retryAfterMs: number | null = null;
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const atMs = clock.now();
    const remainingMs = totalMs - Math.max(0, atMs - startedMs);
    if (remainingMs <= 0) break;
    let came: Attempt;
    try {
      came = await attemptWithin(remainingMs);
    } catch (error) {
      // The platform may have taken an earlier try, even if its name now leads elsewhere.
      if (mayHaveActed && isProblem(error)) break;
      throw error;
    }
    await note({
      attempt,
      atMs,
      durationMs: clock.now() - atMs,
      outcome: came.kind,
      status: 'status' in came ? came.status : null,
      reason: 'reason' in came ? came.reason : null,
      answer: came.kind === 'answer' ? came.body : null,
    });
    if (came.kind === 'oversized') return { ...came, mayHaveActed };
    retryAfterMs = came.kind === 'answer' ? retryAfterOf(came.retryAfter, clock.now()) : null;
    if (came.kind === 'answer' && !TRY_AGAIN.has(came.status)) {
      return { kind: 'answer', status: came.status, retryAfterMs, body: came.body, mayHaveActed };
    }
    // A gateway that gave up waiting does not know if the platform acted. The platform's own 503 says that it did not.
    mayHaveActed ||=
      came.kind === 'lost' ||
      (came.kind === 'answer' && (came.status !== 503 || refusalOf(operation, came.body) === null));
    if (attempt === MOST_TRIES) break;
    const jitterMs = ports.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
    const pauseMs = Math.max(jitterMs, retryAfterMs ?? 0);
    if (clock.now() + pauseMs - startedMs >= totalMs) break;
    await clock.sleep(pauseMs);
  }
  return { kind: 'unavailable', mayHaveActed, retryAfterMs };
}

function messageTo(
  guarded: GuardedUrl,
  partner: OutboundPartner,
  call: OutboundCall,
  body: string,
  atMs: number,
): OutboundMessage {
  const url = new URL(guarded.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${call.operation}`;
  const headers = {
    ...call.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'farelock',
    'idempotency-key': call.subject,
    ...signWebhook(partner.webhookSecrets, { id: call.subject, atMs, body }),
  };
  return { url, headers, body };
}

async function notingRefusal<T>(
  note: (outcome: string, reason: string) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isProblem(error)) await note('refused', String(error.detail?.reason ?? ''));
    throw error;
  }
}

function tried(
  { limits = outboundLimits, resolve = systemResolver, ca, embedded }: OutboundPorts,
  guarded: GuardedUrl,
  message: OutboundMessage,
  remainingMs: number,
): Promise<Attempt> {
  if (guarded.kind !== 'embedded') return guardedRequest({ resolve, limits, ca }, guarded, message, remainingMs);
  if (embedded === null) throw problem('partner_url_refused', { detail: { reason: 'reserved_host' } });
  return embeddedRequest(embedded, limits, message, remainingMs);
}

/** Makes the same exchange with the platform in this process; its answers too can be slow, broken off or too large. */
async function embeddedRequest(
  answer: Fetch,
  limits: OutboundLimits,
  { url, headers, body }: OutboundMessage,
  remainingMs: number,
): Promise<Attempt> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), remainingMs);
  const tooLate = new Promise<never>((_resolve, reject) => {
    abort.signal.addEventListener('abort', () => reject(new Error('timeout')), { once: true });
  });
  try {
    const request = { method: 'POST', url: url.href, headers, body, signal: abort.signal };
    const response = await Promise.race([answer(request), tooLate]);
    const bytes = Buffer.from(response.body ?? '');
    const { status } = response;
    if (bytes.length > limits.answerBytes) return { kind: 'oversized', status };
    return { kind: 'answer', status, retryAfter: headerOf(response, 'retry-after'), body: bytes };
  } catch (error) {
    return { kind: 'lost', reason: error instanceof Error ? error.message.slice(0, 40) : 'network error' };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads `Retry-After` (seconds or a date) as milliseconds from now; null if unreadable. */
function retryAfterOf(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** @param begunAt the platform's address when the order was begun; null for orders older than that column */
export const outboundPartner = (ports: SecretPorts, row: PartnerRow, begunAt: string | null): OutboundPartner => ({
  partnerId: row.partner_id,
  platformUrl: begunAt ?? row.platform_url,
  hasMoved: begunAt !== null && begunAt !== row.platform_url,
  webhookSecrets: webhookSecretsOf(ports, row),
});

/** Opens calls to partners' platforms: the network and, in a demo, the sandbox platform in this process. */
export function openOutbound(ports: PartnerPorts) {
  const { store, secrets, ids, clock, environment, demo } = ports;
  const given = ports.outbound ?? {};
  return createOutbound({
    clock,
    random: given.random ?? Math.random,
    breaker: createBreaker({ store, clock }),
    audit: createOutboundAudit({ store, secrets, ids }),
    rules: { environment, extraPorts: ports.options.outboundPorts },
    embedded: demo && (given.embedded ?? ((request) => demo.answer(ports, request))),
    resolve: given.resolve,
    limits: given.limits,
    ca: given.ca,
  });
}

const secretPlace = (partnerId: string) => `partners.webhook_secret_sealed.${partnerId}`;

type SecretPorts = Pick<PartnerPorts, 'secrets' | 'clock'>;

export const sealWebhookSecret = ({ secrets }: SecretPorts, partnerId: string, secret: string): string =>
  secrets.encrypt(secretPlace(partnerId), secret);

/** Opens the secrets that now sign requests to a partner, newest first; two during a rotation. */
export function webhookSecretsOf({ secrets, clock }: SecretPorts, row: PartnerRow): string[] {
  const before = row.webhook_secret_before_sealed;
  const lives = before !== null && clock.now() < (row.webhook_secret_before_until_ms ?? 0);
  return [row.webhook_secret_sealed, ...(lives ? [before] : [])].map((sealed) =>
    secrets.decrypt(secretPlace(row.partner_id), sealed),
  );
}
