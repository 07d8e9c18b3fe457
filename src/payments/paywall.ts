import type { RawBuilder } from 'kysely';
import { loadAuthorization } from '../escrow/index.ts';
import { type HttpRequest, HttpResponse, json } from '../kernel/http.ts';
import { canonicalJson } from '../kernel/json.ts';
import { noMeter } from '../kernel/meter.ts';
import { once } from '../kernel/once.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { createJournal, type NewSettlement, type Settlement } from './journal.ts';
import { type OperatorKeys, oneKey } from './operator-keys.ts';
import type { Demand, Refusal, SentPayment } from './protocol.ts';
import { PROTOCOLS } from './protocols.ts';
import { giveQuote, type Quote, quoteByMemo } from './quotes.ts';
import type { Ended, Facilitator, PaywallPorts, Till } from './settling.ts';
import { abandon, endOf, goOn, outcomeOf, recover, start } from './settling.ts';
import type { Asker, PaidCall, PaymentTerms, Paywall } from './terms.ts';
import { x402 } from './x402.ts';

export type { PaywallPorts } from './settling.ts';

const NOBODY: Asker = { payer: null };

/** The fee payer's least balance: the 0.00089 SOL that a wallet needs to exist, and two fees. */
const LEAST_LAMPORTS = 890_880n + 2n * 20_000n;

interface Visit {
  readonly call: PaidCall;
  readonly digest: string;
  readonly headers: HttpRequest['headers'];
}

export interface RecoveringPaywall extends Paywall {
  recover(): ReturnType<typeof recover>;
  /** Selects when the oldest payment that waits for `recover` was left (epoch ms). */
  leftAtMs(): RawBuilder<number | null>;
}

/**
 * The paywall (DESIGN, section 4): a payment is bound by its memo to one quote, and a quote to one request. The journal
 * row of a claimed payment decides: the same payment gets the same answer and is charged once, in any process. `charge`
 * raises the problems of `check` and `perform`, `invalid_payment_signature` and `payment_pending`.
 */
export function createPaywall(ports: PaywallPorts): RecoveringPaywall {
  const journal = createJournal(ports);
  // Loaded with the first payment: a free or unpaid call has no use for it.
  const facilitator = once(
    async (): Promise<Facilitator> =>
      ports.facilitatorUrl
        ? (await import('./facilitator-remote.ts')).createRemoteFacilitator({ ...ports, url: ports.facilitatorUrl })
        : (await import('./facilitator-svm.ts')).createSvmFacilitator(ports),
  );
  const till: Till = {
    ...ports,
    journal,
    facilitator,
    // A facilitator service knows payments of x402 only.
    protocols: ports.facilitatorUrl ? [x402] : PROTOCOLS,
    patienceMs: ports.patienceMs ?? 8_000,
    meter: ports.meter ?? noMeter,
  };
  return {
    async charge(request, call) {
      const digest = ports.secrets.hmac('paid request', canonicalJson([call.resource, call.request]));
      const { headers } = request;
      const visit: Visit = { call, digest, headers };
      const protocol = till.protocols.find((one) => one.isIn(headers));
      if (!protocol) {
        const reason = 'this call is paid; sign this challenge and send it as PAYMENT-SIGNATURE';
        return challenge(till, visit, await termsOf(till, call, NOBODY), { code: 'payment_required', reason });
      }
      const sent = await protocol.read(headers, till);
      if (typeof sent === 'string') return refuse(till, visit, await termsOf(till, call, NOBODY), sent);
      if (request.trail) request.trail.paymentId = sent.key;
      return paid(till, visit, sent).catch(pendingIfAway);
    },
    async outcome(paymentKey) {
      const row = await journal.find(paymentKey);
      return row ? outcomeOf(till, row) : 'unknown';
    },
    recover: () => recover(till),
    leftAtMs: journal.orphanedAtMs,
  };
}

const feePayer = async ({ facilitatorUrl, cluster, feePayer }: Till): Promise<string> =>
  facilitatorUrl
    ? (await import('./facilitator-remote.ts')).feePayerOf(facilitatorUrl, cluster.network)
    : feePayer.address;

const lendersOf = ({ lender, lenders }: Till): OperatorKeys | null => lenders ?? (lender ? oneKey(lender) : null);

/** The fee payer that a payment names, if it is ours; else that of new challenges. */
async function feePayerOf(till: Till, { signers: [named], authorization }: SentPayment): Promise<string> {
  const { facilitatorUrl, feePayers } = till;
  if (authorization) return named && lendersOf(till)?.has(named) ? named : (till.lender?.address ?? '');
  if (facilitatorUrl || !named || !feePayers?.has(named)) return feePayer(till);
  return named;
}

/** Runs the call's checks, then ours: we charge nothing while we cannot pay the fee. */
async function termsOf(till: Till, call: PaidCall, asker: Asker): Promise<PaymentTerms> {
  const terms = await call.check(asker);
  await checkFeePayer(till, { fresh: false });
  return terms;
}

/** @throws Problem `operator_funds_low` when our fee payer can pay no fee */
async function checkFeePayer({ wallets, log, feePayer }: Till, how: { fresh: boolean }): Promise<void> {
  const holdings = await wallets?.holdings(how).catch((error: unknown) => {
    if (isProblem(error, 'cluster_failed')) return null;
    throw error;
  });
  if ((holdings?.facilitator ?? LEAST_LAMPORTS) >= LEAST_LAMPORTS) return;
  log('error', 'facilitator_cannot_pay', { address: feePayer.address });
  throw problem('operator_funds_low', { retryAfter: 60 });
}

async function challenge(till: Till, visit: Visit, terms: PaymentTerms, refusal: Refusal): Promise<HttpResponse> {
  const payer = await feePayer(till);
  const quote = await giveQuote(till, terms, visit.call.resource, visit.digest);
  const demand: Demand = { quote, network: till.cluster.network, feePayer: payer };
  const offer = {
    ...demand,
    url: visit.call.url,
    description: terms.description,
    refusal,
    discovery: await visit.call.discovery?.(),
    authorization: () => authorizationFor(till, terms),
  };
  const said = await Promise.all(till.protocols.map((protocol) => protocol.challenge(offer, visit.headers, till)));
  const headers = said.map((one) => one.headers);
  return json(said[0]?.body, 402, Object.assign({ 'cache-control': 'no-store' }, ...headers));
}

/** The authorization that may pay instead. A facilitator service relays none for us. */
async function authorizationFor({ lender, facilitatorUrl }: Till, terms: PaymentTerms) {
  if (!lender || facilitatorUrl) return null;
  const asked = (await terms.authorization?.()) ?? null;
  return asked && { asked, feePayer: lender.address };
}

/** Compares the addresses, which hash all terms (payer, price, deadlines, keys). @returns why they differ */
async function whyNotAuthorized(till: Till, { authorization }: SentPayment, terms: PaymentTerms) {
  if (!authorization) return null;
  const { programId, terms: sent } = authorization.place;
  const wanted = await authorizationFor(till, terms);
  if (!wanted) return 'this call takes no authorization now; pay by the scheme exact';
  const { authorizationPlace } = await loadAuthorization();
  const { escrow } = await authorizationPlace(wanted.asked, wanted.asked.programId);
  if (escrow === authorization.place.escrow && programId === wanted.asked.programId) return null;
  return sent.payer === wanted.asked.payer
    ? 'the authorization has other terms than the challenge'
    : `only ${wanted.asked.payer} can authorize: what is not captured goes back to the payer`;
}

async function refuse(till: Till, visit: Visit, terms: PaymentTerms, reason: string): Promise<HttpResponse> {
  till.meter('payment', { outcome: 'refused' });
  till.log('info', 'payment_refused', { resource: visit.call.resource, reason });
  return challenge(till, visit, terms, { code: 'payment_verification_failed', reason });
}

async function paid(till: Till, visit: Visit, sent: SentPayment): Promise<HttpResponse> {
  const named = await quoteOf(till, sent);
  // The journal knows a payment for longer than its quote.
  const mayBeKnown = sent.key !== null && named?.isKnown !== false;
  const known = mayBeKnown ? await till.journal.find(sent.key ?? '') : undefined;
  return known ? again(till, visit, sent, known) : first(till, visit, sent, named?.quote);
}

async function quoteOf(till: Till, sent: SentPayment) {
  const { memoOf } = await import('./inspection.ts');
  const memo = memoOf(sent);
  return memo === null ? undefined : quoteByMemo(till, memo, sent.key);
}

async function first(till: Till, visit: Visit, sent: SentPayment, quote: Quote | undefined): Promise<HttpResponse> {
  const { call } = visit;
  // Verified first, so that the call's check gets a payer that can pay.
  const bound = await bind(till, visit, sent, quote);
  if (typeof bound === 'string') return refuse(till, visit, await termsOf(till, call, NOBODY), bound);
  const verdict = await (await till.facilitator()).verify(sent, bound.demand);
  if (!verdict.valid || sent.key === null) {
    // If emptied since the last look, the fee payer makes every payment look bad.
    await checkFeePayer(till, { fresh: true });
    const reason = verdict.valid ? 'the payer has not signed' : verdict.reason;
    return refuse(till, visit, await termsOf(till, call, NOBODY), reason);
  }
  const terms = await termsOf(till, call, { payer: verdict.payer });
  const { amount, quote_id, pay_to, asset } = bound.quote;
  if (pay_to !== terms.payTo || asset !== terms.asset) {
    return refuse(till, visit, terms, 'the challenge is out of date');
  }
  const notAuthorized = await whyNotAuthorized(till, sent, terms);
  if (notAuthorized !== null) return refuse(till, visit, terms, notAuthorized);
  const { payer } = verdict;
  const names = { payment_key: sent.key, payment_id: sent.paymentId, quote_id };
  const claim = { ...names, request_digest: visit.digest, payer, amount, pay_to };
  const row = (await till.journal.claim(claim)) ?? (await claimOnceNameIsFree(till, claim));
  if (!row) {
    const known = await till.journal.find(sent.key);
    return known ? again(till, visit, sent, known) : refuse(till, visit, terms, 'this challenge was paid already');
  }
  const attempt = { call, sent, demand: bound.demand, ...verdict };
  const ended = await till.journal.hold(row, () => start(till, row, attempt));
  return conclude(till, visit, sent, terms, ended);
}

/** Claims again after the payment of the same `payment_id` has failed. @throws Problem `payment_id_taken` if not */
async function claimOnceNameIsFree(till: Till, claim: NewSettlement): Promise<Settlement | null> {
  const other = claim.payment_id === null ? undefined : await till.journal.named(claim);
  if (!other || other.payment_key === claim.payment_key) return null;
  if ((await outcomeOf(till, other)) !== 'failed') throw problem('payment_id_taken');
  return till.journal.claim(claim);
}

async function again(till: Till, visit: Visit, sent: SentPayment, known: Settlement): Promise<HttpResponse> {
  const { call } = visit;
  if (known.request_digest !== visit.digest || sent.quoteId !== known.quote_id) {
    return refuse(till, visit, await call.check(NOBODY), 'this payment was made for another request');
  }
  const deadline = till.clock.now() + till.patienceMs;
  for (let row = known, pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 250)) {
    const ended = await endOf(till, row);
    if (ended) return conclude(till, visit, sent, null, ended);
    const mine = await till.journal.overtake(row);
    if (mine) return resume(till, visit, sent, mine);
    if (till.clock.now() >= deadline) throw problem('payment_pending', { retryAfter: 2 });
    await till.clock.sleep(pauseMs);
    row = (await till.journal.find(row.payment_key)) ?? row;
  }
}

/** Goes on with a payment whose process died, or whose settled call could not be done yet. */
async function resume(till: Till, visit: Visit, sent: SentPayment, row: Settlement): Promise<HttpResponse> {
  const { call } = visit;
  if (row.state !== 'claimed' && row.state !== 'performed') {
    const ended = await till.journal.hold(row, () => goOn(till, row, call));
    return conclude(till, visit, sent, null, ended);
  }
  const { terms, ended } = await till.journal.hold(row, async () => {
    const terms = await termsOf(till, call, { payer: row.payer });
    const bound = await bind(till, visit, sent, (await quoteOf(till, sent))?.quote);
    if (typeof bound === 'string') return { terms, ended: await abandon(till, row, bound) };
    const verdict = await (await till.facilitator()).verify(sent, bound.demand);
    const fault = verdict.valid ? await whyNotAuthorized(till, sent, terms) : verdict.reason;
    if (!verdict.valid || fault !== null) return { terms, ended: await abandon(till, row, fault ?? '') };
    const attempt = { call, sent, demand: bound.demand, ...verdict };
    return { terms, ended: await start(till, row, attempt) };
  });
  return conclude(till, visit, sent, terms, ended);
}

async function bind(till: Till, visit: Visit, sent: SentPayment, quote: Quote | undefined) {
  if (!quote) return 'the transaction names no challenge that is known';
  if (quote.resource !== visit.call.resource || quote.request_digest !== visit.digest) {
    return 'this payment was made for another request';
  }
  if (till.clock.now() >= quote.expires_at_ms) return 'the challenge has expired';
  const demand: Demand = { quote, network: till.cluster.network, feePayer: await feePayerOf(till, sent) };
  return sent.agreesTo(demand, visit.call.url)
    ? { quote, demand }
    : 'the accepted requirements are not those of the challenge';
}

async function conclude(
  till: Till,
  visit: Visit,
  sent: SentPayment,
  terms: PaymentTerms | null,
  ended: Ended,
): Promise<HttpResponse> {
  if (ended.kind === 'answer' || ended.kind === 'later') return receipted(till, visit, sent, ended);
  if (ended.kind === 'overtaken') {
    const row = sent.key === null ? undefined : await till.journal.find(sent.key);
    if (!row) throw problem('payment_pending', { retryAfter: 2 });
    return again(till, visit, sent, row);
  }
  // Undone with every repetition: the process that first saw the failure may have died before it undid anything.
  await visit.call.undo?.(ended.payment);
  if (ended.kind === 'refused') return receipted(till, visit, sent, ended);
  if (ended.error !== undefined) throw ended.error;
  return challenge(till, visit, terms ?? (await visit.call.check(NOBODY)), {
    code: 'payment_settlement_failed',
    reason: ended.reason,
  });
}

function receipted(
  till: Till,
  { call: { url } }: Visit,
  sent: SentPayment,
  { row, response }: { row: Settlement; response: HttpResponse },
): HttpResponse {
  const { status, body, headers } = response;
  return new HttpResponse(status, body, { ...headers, ...sent.protocol.receipt({ row, sent, status, url }, till) });
}

/** An unreachable cluster says nothing about the payment: the client can send it again as it is. */
function pendingIfAway(error: unknown): never {
  throw isProblem(error, 'cluster_failed') ? problem('payment_pending', { retryAfter: 2, cause: error }) : error;
}
