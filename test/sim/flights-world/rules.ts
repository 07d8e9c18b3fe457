import { decodeEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID, intentHashOf } from '../../../src/escrow/address.ts';
import { parseTransaction } from '../../../src/solana/embedded/parse.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { decodeMint, MEMO_PROGRAM } from '../../../src/solana/token.ts';
import { broken, type World } from '../world/world.ts';
import type { Fact } from './people.ts';
import { CUSTOMERS, refundWalletOf, type Stage, walletOf } from './stage.ts';
import { limitOf } from './tool.ts';
import { checkWallets, purses } from './wallets.ts';

/** Rents that may be tied up for creations that nobody has paid yet (CONTRACT, section 2). */
const MOST_UNPAID = 8;

interface IntentRow {
  readonly intent_id: string;
  readonly status: string;
  readonly abandoned: number;
  readonly opened_at_ms: number | null;
  readonly funding_wallet: string;
  readonly refund_wallet: string;
  readonly escrow_address: string;
  readonly vault_address: string;
  readonly amount: number;
  readonly payment_key: string | null;
  readonly capture_tx_hash: string | null;
}

const INTENTS = `select intent_id, status, abandoned, opened_at_ms, funding_wallet, refund_wallet, escrow_address,
  vault_address, amount, payment_key, capture_tx_hash from intents`;

const intentsOf = (stage: Stage): IntentRow[] => stage.rows<IntentRow>(INTENTS);

/** Where the services write down what they are about to send. */
const signedAs = (signature: string) =>
  `select 1 from settlements where signature = '${signature}' and "transaction" is not null
  union all select 1 from effects where signature = '${signature}' and "transaction" is not null`;

/** Rows as they are committed now. A server is asked, and the world waits for it. */
function judge<T>(world: World, stage: Stage, statement: string, look: (rows: readonly T[]) => void): void {
  if (stage.disk) {
    look(stage.rows<T>(statement));
    return;
  }
  stage.query(statement).then(
    (rows) => look(rows as readonly T[]),
    (error: unknown) => world.failed('the books can be read', error),
  );
}

/** Each escrow's last state that was seen on the chain: it is gone once it is closed. */
type Ends = Map<string, 'open' | 'captured' | 'refunded'>;

/** What holds after every step that touched a book or the chain. */
export function declareRules(world: World, stage: Stage) {
  const ends: Ends = new Map();
  const beganWith = operatorLamports(stage);
  const began = purses(stage);
  const lowest = { lamports: beganWith };
  const mint = stage.ledger.ledger.account(stage.ledger.usdcMint);
  const supply = (mint && decodeMint(mint.data)?.supply) ?? 0n;

  world.always('no unit of USDC comes or goes', 'chain', () => {
    const sum = [...purses(stage).values()].reduce((total, held) => total + held, 0n);
    if (sum !== supply) broken(`${sum} units instead of ${supply}`);
  });

  const tickets = new Set<string>();
  /** The airline's book is asked as each escrow ends; asking takes a moment, and the answer is held against the end. */
  const ended = async (intent: IntentRow, how: 'captured' | 'refunded'): Promise<void> => {
    const order = await stage.orderOf(intent.intent_id);
    if (order?.status === 'ticketed') tickets.add(intent.intent_id);
    if (how === 'captured' && order?.status !== 'ticketed') {
      world.violate('captured only with a ticket', `${intent.intent_id}: the order is ${order?.status ?? 'none'}`);
    }
    if (how === 'refunded' && order?.status === 'ticketed') {
      world.violate('refunded only without a ticket', `${intent.intent_id} has a ticket`);
    }
  };

  stage.chain.onSend((signature, by) => {
    const heard = (found: readonly unknown[]) => {
      if (found.length > 0) return;
      world.violate('what was signed is on the disk before it is sent', `${signature} of ${by}`);
    };
    if (stage.disk) heard(stage.disk.survives((books) => books.prepare(signedAs(signature)).all()));
    else judge(world, stage, signedAs(signature), heard);
  });

  stage.chain.onLanding(() => judge(world, stage, INTENTS, landed));
  function landed(intents: readonly IntentRow[]): void {
    const byHash = new Map(intents.map((one) => [hashOf(one.intent_id), one]));
    const accounts = stage.ledger.ledger.accountsPage({ by: 'owner', is: ESCROW_PROGRAM_ID }, '', 10_000);
    for (const { address, data } of accounts) {
      const escrow = decodeEscrow(address, ESCROW_PROGRAM_ID, data);
      if (escrow?.kind !== 'intent') continue;
      const before = ends.get(address);
      ends.set(address, escrow.state);
      if (before === escrow.state) continue;
      world.saw(`escrow: ${escrow.state}`);
      if (before !== undefined && before !== 'open') {
        world.violate('an escrow ends once', `${address} was ${before} and is ${escrow.state}`);
      }
      const intent = byHash.get(Buffer.from(escrow.intentHash).toString('hex'));
      if (!intent) {
        world.violate('an escrow is of an intent', `${address} is of none`);
      } else if (escrow.state !== 'open' && !escrow.neverFunded) {
        ended(intent, escrow.state).catch((error: unknown) => world.failed('the airline has a book', error));
      }
    }
    const there = new Set(accounts.map(({ address }) => String(address)));
    const unpaid = [...byHash.values()].filter(
      ({ escrow_address: escrow, opened_at_ms: opened }) => opened === null && there.has(escrow),
    );
    if (unpaid.length > MOST_UNPAID) {
      world.violate('the loss by unpaid calls is bounded', `${unpaid.length} escrows are open for nothing`);
    }
    if (unpaid.length > 1) world.saw('several unpaid creations at once');
    for (const [address, state] of ends) {
      if (there.has(address)) continue;
      world.saw('escrow: closed');
      // Closed with the refund of nothing, in one transaction.
      if (state === 'open') ends.set(address, 'refunded');
    }
    const lamports = operatorLamports(stage);
    if (lamports < lowest.lamports) lowest.lamports = lamports;
  }

  world.always('what has ended stays ended', 'db update intents', () => {
    // A server's are looked at when they are at rest.
    for (const row of stage.disk ? intentsOf(stage) : []) {
      const onChain = ends.get(row.escrow_address);
      if (row.status === 'booked' && onChain !== 'captured')
        broken(`${row.intent_id} is booked, and its escrow ${onChain}`);
      if (row.status === 'refunded' && onChain !== 'refunded' && !isPaidBack(stage, row))
        broken(`${row.intent_id} is refunded, and its escrow ${onChain}`);
    }
  });
  return { ends, lowest, supply, beganWith, began };
}

/** Captured, and paid back from the treasury since: an operator granted the refund. */
const isPaidBack = (stage: Stage, { intent_id: id }: IntentRow): boolean =>
  stage.rows(`select 1 from refund_requests where intent_id = ? and state in ('approved', 'refunded')`, id).length > 0;

export type Watched = ReturnType<typeof declareRules>;

const hashOf = (intentId: string): string => Buffer.from(intentHashOf(intentId)).toString('hex');

export const operatorLamports = (stage: Stage): bigint =>
  ['authority', 'facilitator'].reduce(
    (sum, name) => sum + (stage.ledger.ledger.account(walletOf(name).address)?.lamports ?? 0n),
    0n,
  );

/** Work that only time, or a person, could still move. */
const OPEN: readonly (readonly [what: string, sql: string])[] = [
  [
    'a booking',
    `select intent_id as id, state, last_error as error from bookings where state not in ('booked', 'refunded')`,
  ],
  [
    'an effect',
    `select effect_id as id, kind || ' ' || state as state, error from effects where state in ('planned', 'sent', 'stuck')`,
  ],
  [
    'a settlement',
    `select payment_key as id, state, error_code as error from settlements where state not in ('answered', 'failed', 'settled')`,
  ],
  [
    'a refund request',
    `select request_id as id, state, last_error as error from refund_requests where state not in ('refunded', 'rejected')`,
  ],
  ['a message', `select message_id as id, state, last_error as error from outbox where state in ('queued', 'sending')`],
  [
    'an intent that blocks its pair',
    `select intent_id as id, status as state, null as error from intents where active_key is not null`,
  ],
  [
    'an escrow under way',
    `select intent_id as id, creating_key as state, null as error from intents where creating_key is not null`,
  ],
  [
    'a pay-out to an affiliate',
    `select payout_id as id, state, last_error as error from affiliate_payouts where state = 'open'`,
  ],
  [
    'the credit of a journey',
    `select intent_id as id, status as state, null as error from intents where credit_due_at_ms is not null and opened_at_ms is not null`,
  ],
];

/** What holds once the world has come to rest: nothing is open, and histories, books and chain are one story. */
export async function checkAtRest(world: World, stage: Stage, facts: readonly Fact[], watched: Watched): Promise<void> {
  await stage.settleBooks();
  for (const [what, sql] of OPEN) {
    for (const { id, state, error } of stage.rows<{ id: string; state: string; error: string | null }>(sql)) {
      world.violate('nothing stays stuck', `${what} is still open: ${id} ${state} ${error ?? ''}`);
    }
  }
  const payments = paymentsOf(stage);
  checkIntents(world, stage, watched);
  checkHistory(world, stage, facts, payments);
  checkPaidOnce(world, stage, payments);
  await checkTickets(world, stage);
  checkWallets(world, stage, watched, facts);
  checkLimits(world, stage);
  checkNews(world, stage);
  checkRent(world, stage, watched);
}

/** Payments that landed: who paid how much for which quote. */
interface Landed {
  readonly signature: string;
  readonly memo: string | null;
  readonly err: unknown;
}

function paymentsOf(stage: Stage): Landed[] {
  const facilitator = walletOf('facilitator').address;
  const all = stage.ledger.ledger.transactionsNaming(facilitator, {
    beforeSeq: Number.MAX_SAFE_INTEGER,
    untilSeq: 0,
    limit: 10_000,
  });
  return all.map(({ signature, err, wire }) => ({ signature, err, memo: memoIn(wire) }));
}

function memoIn(wire: Uint8Array): string | null {
  const { accountKeys, instructions } = parseTransaction(wire);
  const memo = instructions.find(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM);
  return memo ? Buffer.from(memo.data).toString('utf8') : null;
}

function checkIntents(world: World, stage: Stage, { ends }: Watched): void {
  const held = purses(stage);
  for (const row of intentsOf(stage)) {
    const inVault = held.get(row.escrow_address) ?? 0n;
    if (inVault > 0n) world.violate('no money is left in a vault', `${row.intent_id}: ${inVault}`);
    const onChain = ends.get(row.escrow_address);
    if (row.status === 'refunded' && onChain !== 'refunded' && !isPaidBack(stage, row))
      world.violate('refunded is refunded', `${row.intent_id}: its escrow is ${onChain}`);
    if (onChain === 'open') world.violate('nothing stays stuck', `the escrow of ${row.intent_id} is open`);
    if (row.status === 'booked' && onChain !== 'captured') world.violate('booked is captured', row.intent_id);
    if (onChain === 'captured' && row.status !== 'booked' && !isPaidBack(stage, row))
      world.violate('captured is booked', row.intent_id);
  }
}

interface PaidRow {
  readonly memo: string;
  readonly resource: string;
  readonly request_digest: string;
  readonly payer: string;
}

/** Each journey asks for these anew, and its request may be the same: also the lock of an offer that the last one has booked. */
const BOUGHT_FOR_EACH_JOURNEY = new Set(['POST /air/search', 'POST /air/offer-details', 'POST /air/intents']);
/** An answer that comes later than this, by the clock of the tool, is too old to go on with: the tool asks again. */
const FRESH_MS = 600_000;
const GROWS_OLD = new Set(['POST /air/search', 'POST /air/offer-details', 'GET /air/orders']);

/** How many answers were bought because the one before had come too late. */
function boughtAgain(stage: Stage, payer: string, resource: string): number {
  const name = stage.names.get(payer);
  if (name === undefined || !GROWS_OLD.has(resource)) return 0;
  const bought = stage
    .journalOf(name)
    .survives(
      (journal) =>
        journal
          .prepare('select created_at_ms from payments where wallet = ? and resource = ? order by rowid')
          .all(payer, resource) as { readonly created_at_ms: number }[],
    );
  return bought.filter(({ created_at_ms: atMs }, place) => {
    const before = bought[place - 1];
    return before !== undefined && atMs - before.created_at_ms > FRESH_MS;
  }).length;
}

/** Nobody pays twice for the same thing: the same request of the same payer, landed once. */
function checkPaidOnce(world: World, stage: Stage, landed: readonly Landed[]): void {
  const memos = new Set(landed.filter(({ err }) => err === null).map(({ memo }) => memo));
  const times = new Map<string, number>();
  for (const { memo, payer, resource, request_digest } of stage.rows<PaidRow>(
    `select q.memo, q.resource, q.request_digest, s.payer
       from sim_all_settlements s join sim_all_quotes q on q.quote_id = s.quote_id`,
  )) {
    if (!memos.has(memo)) continue;
    const thing = `${payer} ${resource} ${request_digest}`;
    const count = (times.get(thing) ?? 0) + 1;
    times.set(thing, count);
    const journeys = BOUGHT_FOR_EACH_JOURNEY.has(resource) ? (stage.journeys.get(payer) ?? 1) : 1;
    const most = journeys + boughtAgain(stage, payer, resource);
    if (count <= most) continue;
    world.violate(
      'nobody pays twice for one thing',
      `${stage.names.get(payer)} paid ${resource} ${count} times instead of ${most}`,
    );
  }
}

/** What each was told is what the books and the chain say. */
function checkHistory(world: World, stage: Stage, facts: readonly Fact[], landed: readonly Landed[]): void {
  const good = new Set(landed.filter(({ err }) => err === null).map(({ signature }) => signature));
  const rows = new Map(intentsOf(stage).map((one) => [one.intent_id, one]));
  const things = new Map<string, string>();
  for (const fact of facts) {
    if (fact.kind === 'paid') {
      if (!good.has(fact.transaction)) world.violate('a receipt is of a payment', `${fact.thing}: ${fact.transaction}`);
      const before = things.get(fact.thing);
      things.set(fact.thing, fact.transaction);
      if (before !== undefined && before !== fact.transaction) {
        world.violate('nobody pays twice for one thing', `${fact.thing}: ${before} and ${fact.transaction}`);
      }
      continue;
    }
    const row = rows.get(fact.intentId);
    if (fact.kind === 'referred') continue;
    if (!row || row.abandoned === 1) {
      world.violate('what was acknowledged is there', `${fact.who} was told of ${fact.intentId}`);
      continue;
    }
    if (fact.kind === 'intent') {
      const own = refundWalletOf(fact.who).address;
      if (row.refund_wallet !== own) world.violate('refunds go to the frozen wallet', `${fact.intentId} to another`);
      if (row.funding_wallet !== walletOf(fact.who).address) world.violate('nobody takes another pair', fact.intentId);
    }
    if (fact.kind === 'ended' && fact.status !== row.status && !isPaidBack(stage, row)) {
      world.violate(
        'what was acknowledged is there',
        `${fact.intentId} was told as ${fact.status}, and is ${row.status}`,
      );
    }
    if (fact.kind === 'requested') {
      const [request] = stage.rows(`select request_id from refund_requests where intent_id = ?`, fact.intentId);
      if (!request) world.violate('what was acknowledged is there', `the refund request for ${fact.intentId}`);
    }
  }
}

/** A ticket is paid for, and whose money went back holds none, unless a person was told. */
async function checkTickets(world: World, stage: Stage): Promise<void> {
  const told = new Set(stage.messages.map(({ about }) => about));
  for (const row of intentsOf(stage)) {
    const order = await stage.orderOf(row.intent_id);
    if (row.status === 'booked' && !order)
      world.violate('captured only with a ticket', `${row.intent_id} has no order`);
    const isFree = row.status === 'refunded' && order?.status === 'ticketed';
    if (isFree && !told.has(`page:ticket_after_refund:${row.intent_id}`)) {
      world.violate('nobody flies for nothing unnoticed', row.intent_id);
    }
  }
}

/** Whatever was signed at once, or again after a death: nobody spends more in a day than he has allowed. */
function checkLimits(world: World, stage: Stage): void {
  for (const name of CUSTOMERS) {
    const limit = limitOf(world, name);
    if (limit === null || stage.setting.payer !== 'own') continue;
    const [row] = stage.rows<{ sum: number | null }>(
      `select sum(amount) as sum from sim_all_settlements where state in ('settled', 'answered') and payer = ?`,
      walletOf(name).address,
    );
    if (BigInt(row?.sum ?? 0) > limit)
      world.violate('nobody spends more in a day than his limit', `${name}: ${row?.sum} of ${limit}`);
  }
}

interface KeptOrder {
  readonly order_id: string;
  readonly intent_id: string;
  readonly document: string;
}

/** What the airline has changed by itself is shown, and the traveller and the operator have heard of it. */
function checkNews(world: World, stage: Stage): void {
  const sent = stage.messages.map(({ about }) => about);
  for (const [intentId, change] of stage.changes) {
    // Of what somebody gives back, another rule holds.
    const isAsked = stage.rows('select 1 from refund_requests where intent_id = ?', intentId).length > 0;
    const [order] = stage.rows<KeptOrder>(
      'select order_id, intent_id, document from orders where intent_id = ?',
      intentId,
    );
    if (isAsked || !order) continue;
    const shown = JSON.parse(order.document) as { status: string; airline_changed_at?: string };
    if ((shown.status === 'cancelled') !== (change.what === 'cancelled'))
      world.violate('an order is shown as the airline has it', `${intentId} was ${change.what}, is ${shown.status}`);
    const heard = (beginning: string) => sent.filter((about) => about.startsWith(beginning)).length;
    for (const beginning of [`page:order_changed:${order.order_id}:`, `mail:journey_changed:${intentId}:`]) {
      if (heard(beginning) === 0)
        world.violate('everybody hears what the airline changed', `${intentId}: no ${beginning}`);
    }
  }
}

const MARKER_RENT = 897_840n;
const TOKEN_ACCOUNT_RENT = 2_039_280n;
const MOST_FEE = 125_000n;

/** What the operator spends is fees, and what a pay-out leaves on chain: every other rent comes back. */
function checkRent(world: World, stage: Stage, watched: Watched): void {
  const count = stage.ledger.ledger.transactionCount();
  const payouts = stage.rows<{ n: number }>(
    `select count(*) as n from effects where kind = 'payout' and state = 'done'`,
  );
  const most = BigInt(count) * MOST_FEE + BigInt(Number(payouts[0]?.n ?? 0)) * (MARKER_RENT + TOKEN_ACCOUNT_RENT);
  const spent = watched.beganWith - operatorLamports(stage);
  if (spent > most) world.violate('every rent comes back', `${spent} lamports are gone, ${most} at most were fees`);
}

/** What every wallet holds, for comparisons between worlds. */
export async function booksOf(stage: Stage): Promise<object> {
  const held = purses(stage);
  const sums = (walletNamed: (name: string) => Signer) =>
    Object.fromEntries(CUSTOMERS.map((name) => [name, String(held.get(walletNamed(name).address) ?? 0n)]));
  const counts = async (table: string, column: string) =>
    (
      (await stage.query(
        `select ${column} as state, count(*) as n from ${table} group by ${column} order by ${column}`,
      )) as readonly { state: string; n: number | string }[]
    ).map(({ state, n }) => `${state} ${Number(n)}`);
  return {
    wallets: sums(walletOf),
    refunds: sums(refundWalletOf),
    treasury: String(held.get(walletOf('treasury').address) ?? 0n),
    intents: await counts('intents', 'status'),
    bookings: await counts('bookings', 'state'),
    requests: await counts('refund_requests', 'state'),
    effects: await counts('effects', 'kind'),
    settlements: await counts('settlements', 'state'),
  };
}
