import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import type { KnownOrder } from '../../../client/base/index.ts';
import type { FlightsClient } from '../../../client/index.ts';
import { type EscrowAccount, loadAccount } from '../../../escrow/index.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { loadToken } from '../../../solana/index.ts';
import { fieldLines, type ListColumn, listLines, type Paint, utcTime, wrap } from '../../../terminal/index.ts';
import type { CreatedIntent, Intent, Offer, Passenger, SearchRequestInput } from '../../../wire/flights/index.ts';
import { demoCutOff } from '../../interruption/index.ts';
import { verifyIntent } from '../../paying/index.ts';
import { parseDate } from '../../searching/index.ts';
import { noteIntent, openSession, type Session } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  createdIntentLines,
  fareFamilies,
  numberedOffers,
  orderLines,
  searchLines,
  statusLines,
} from '../../view/flights/index.ts';
import { money } from '../../view/index.ts';
import { untilEnded } from '../book/index.ts';
import type * as spec from './spec.ts';

type Account = Awaited<ReturnType<typeof readAccounts>>;

/**
 * Reads the atomic USDC of each account that a journey touches, null for a missing one, and the supply of the coin on
 * this cluster. Before there is an intent, its treasury and vault are not known.
 */
async function readAccounts(session: Session, owner: Address, intent: Intent | null) {
  const [{ associatedTokenAddress, decodeMint }, cluster] = await Promise.all([loadToken(), session.cluster()]);
  const mint = cluster.usdcMint;
  const [mintAccount] = await cluster.accounts([mint]);
  const held = async (holder: Address) => cluster.tokenBalance(await associatedTokenAddress(holder, mint));
  const escrow = intent && (await escrowOf(session, intent));
  return {
    wallet: await held(owner),
    treasury: escrow ? await held(escrow.treasury) : null,
    vault: intent ? await cluster.tokenBalance(intent.escrow.vault_address as Address) : null,
    supply: mintAccount ? (decodeMint(mintAccount.data)?.supply ?? 0n) : 0n,
  };
}

const TITLES = { wallet: 'Wallet', treasury: 'Treasury', vault: 'Escrow vault', supply: 'Total supply' } as const;

function trailLines(before: Account, after: Account, booked: Intent, paint: Paint): string[] {
  const held = (one: keyof Account, account: Account, none: string) => {
    const amount = account[one];
    return amount === null ? none : formatUsdc(amount);
  };
  const changeOf = (one: keyof Account) => (after[one] ?? 0n) - (before[one] ?? 0n);
  const ticket = BigInt(booked.escrow.amount);
  // Everything that left the wallet, except for the ticket.
  const fees = -changeOf('wallet') - (booked.status === 'booked' ? ticket : 0n);
  const columns: readonly ListColumn<keyof Account>[] = [
    { title: 'USDC', cell: (one) => TITLES[one] },
    { title: 'Before', align: 'right', cell: (one) => held(one, before, '–') },
    { title: 'After', align: 'right', cell: (one) => held(one, after, one === 'vault' ? 'closed' : '–') },
    { title: 'Change', align: 'right', cell: (one) => `${changeOf(one) > 0n ? '+' : ''}${formatUsdc(changeOf(one))}` },
  ];
  return [
    ...listLines({ paint }, ['wallet', 'treasury', 'vault', 'supply'], columns),
    '',
    `Ticket ${formatUsdc(ticket)}, calls ${formatUsdc(fees)}; network fees were the operator's.`,
  ];
}

function escrowEndLines(escrow: EscrowAccount | null, intent: Intent, paint: Paint): string[] {
  if (!escrow) return [`Escrow ${intent.escrow.address}: no longer on the cluster.`];
  const seconds = (value: bigint | null) => (!value ? null : utcTime(new Date(Number(value) * 1000).toISOString()));
  return fieldLines(paint.dim, [
    ['Escrow', escrow.address],
    ['State on chain', paint.bold(escrow.state)],
    ['Amount', paint.usdc(escrow.amount)],
    ['Opened', seconds(escrow.openedAt)],
    ['Ended', seconds(escrow.endedAt)],
    ['Capture', intent.capture_tx_hash],
    ['Refund', intent.refund_tx_hash],
  ]);
}

const TRAVELLER: Passenger = {
  given_name: 'Ada',
  family_name: 'Example',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: 'ada@example.com',
  phone_number: '+351912345678',
};

/** Uses a home of its own unless FARELOCK_HOME names one. */
export const demo: Run<typeof spec.demo> = async (outer) => {
  const named = outer.environment.FARELOCK_HOME;
  const home = named || mkdtempSync(join(tmpdir(), 'farelock-demo-'));
  const environment = {
    ...outer.environment,
    FARELOCK_HOME: home,
    FARELOCK_PROFILE: 'local',
    FARELOCK_KEYPAIR: undefined,
  };
  const globals = { input: outer.globals.input, color: outer.globals.color };
  const session = await openSession({ ...outer, environment, globals });
  const context = { ...outer, environment, globals, session };
  const reached: { intent: Intent | null } = { intent: null };
  try {
    return await journey(context, home, reached);
  } catch (error) {
    if (!outer.signal.aborted) throw error;
    throw await demoCutOff(context, reached.intent, error, named ? null : home);
  } finally {
    await session.close();
  }
};

async function journey(context: CommandContext, home: string, reached: { intent: Intent | null }): Promise<0 | 8> {
  const { terminal, session, clock, signal } = context;
  const { paint } = terminal.screen;
  const tell = (title: string, lines: readonly string[]) => terminal.tell([paint.accent(`── ${title}`), ...lines, '']);
  const phase = (text: string) => () => terminal.phase(text);

  const prose = (text: string) => wrap(text, terminal.screen.width);
  tell(
    'A flight, an escrow on Solana, and nothing but this process',
    prose(
      'Everything below is real except the airline: the payments, the cluster that settles them, the escrow program.',
    ),
  );
  const wallet = await session.wallet();
  const start = await readAccounts(session, wallet.address, null);
  tell('1. A wallet', [`${wallet.address} holds ${terminal.usdc(start.wallet ?? 0n)}.`]);

  const request = {
    origin_iata: 'LIS',
    destination_iata: 'BER',
    depart_date: parseDate('+30d', clock.now()),
    limit: 5,
    cheapest_per_itinerary: true,
  } satisfies SearchRequestInput;
  const flights = await session.flights();
  const found = await flights.search(request, { signal, onPhase: phase('Searching') });
  const title = { from: 'LIS', to: 'BER', depart: request.depart_date, return: undefined, adults: 1, cabin: 'economy' };
  tell(
    `2. A search, paid with ${terminal.usdc(money(found.payment?.amount ?? '0'))}`,
    searchLines(found.value, { ...title, grouped: true }, terminal.screen),
  );

  await session.recentOffers.remember(found.value.offers, numberedOffers(found.value, true));
  const offerId = cheapest(found.value.offers);
  const known = session.recentOffers.journey(offerId);
  const created = await flights.createIntent(
    { funding_wallet: wallet.address, offer_id: offerId },
    { signal, onPhase: phase('Locking the fare') },
  );
  const intent = created.value;
  reached.intent = intent;
  await noteIntent(await session.store(), intent, known);
  tell(
    `3. The cheapest fare locked, for ${terminal.usdc(money(created.payment?.amount ?? '0'))}: an escrow is open`,
    createdIntentLines(intent, known?.fare ?? null, clock.now(), terminal.screen, true),
  );

  // Only the escrow names the treasury, so its balance at the start is its balance now less these two payments.
  const { treasury } = await readAccounts(session, wallet.address, intent);
  const paid = parseUsdc(found.payment?.amount ?? '0') + parseUsdc(created.payment?.amount ?? '0');
  const before: Account = { ...start, treasury: (treasury ?? 0n) - paid };

  const checks = await verifyIntent(session, intent);
  if (!checks.every((check) => check.ok)) throw problem('escrow_mismatch');
  const names = checks.map((check) => check.check.replaceAll('_', ' ')).join(', ');
  tell('4. The escrow, read from the cluster before it is paid', [
    ...prose(`✓ Matches the intent: ${names}.`),
    ...prose('Only the operator can capture it, and only this amount; after the deadline anyone can send it back.'),
  ]);

  const booked = await bookAndWait(context, flights, intent);
  tell(
    '5. Paid, ticketed, captured',
    statusLines(booked.intent, { nowMs: clock.now(), fundedBy: booked.fundedBy, isVerbose: true }, terminal.screen),
  );
  const order = await readOrder(context, flights, booked.intent, intent);
  if (order) tell('6. The airline order', orderLines(order, terminal.screen));

  const after = await readAccounts(session, wallet.address, intent);
  const finalEscrow = await escrowOf(session, intent);
  tell('7. The money trail, to the unit', [
    ...trailLines(before, after, booked.intent, paint),
    '',
    ...escrowEndLines(finalEscrow, intent, paint),
  ]);
  return end(context, home, booked.intent, order, { before, after, escrow: finalEscrow });
}

function end(
  { terminal, environment }: CommandContext,
  home: string,
  intent: Intent,
  order: KnownOrder | null,
  trail: { before: Account; after: Account; escrow: unknown },
): 0 | 8 {
  const document = { home, intent, order, ...plain(trail) };
  if (terminal.settings.json) terminal.result(document, { lines: () => [] });
  const { paint } = terminal.screen;
  const reference = order?.booking_reference;
  terminal.tell([
    reference
      ? `${paint.good('✓')} Booked: booking reference ${paint.bold(reference)}`
      : 'The booking did not go through; the money was sent back.',
  ]);
  terminal.aside([
    '',
    `Everything from this journey is in ${home}`,
    // `npm run demo` runs before farelock is on the path.
    `  FARELOCK_HOME=${quoted(home)} ${environment.npm_lifecycle_event ? 'node bin/farelock.js' : 'farelock'} status`,
  ]);
  return intent.status === 'booked' ? 0 : 8;
}

async function bookAndWait(
  context: CommandContext,
  payingFor: FlightsClient,
  intent: CreatedIntent,
): Promise<{ intent: Intent; fundedBy: string | null }> {
  const { terminal, session, signal } = context;
  const flights = await session.flights({
    agreed: { kind: 'booking', amount: BigInt(intent.escrow.amount), isTyped: true },
  });
  signal.throwIfAborted();
  const { payment } = await flights.book(intent, [TRAVELLER], { onPhase: () => terminal.phase('Paying the escrow') });
  const paid = await payingFor.intent(intent.intent_id, { signal });
  const ended = await untilEnded(context, flights, paid, (_intent, stage) =>
    stage === 'capturing' ? 'Capturing the escrow' : 'Ticketing',
  );
  return { intent: ended, fundedBy: payment?.transaction ?? null };
}

async function readOrder(
  { terminal, signal }: CommandContext,
  flights: FlightsClient,
  intent: Intent,
  { customer_support_code: code }: CreatedIntent,
): Promise<KnownOrder | null> {
  if (intent.order_id === null || intent.status !== 'booked') return null;
  const onPhase = () => terminal.phase('Reading the order');
  return (await flights.order(intent.order_id, code, { signal, onPhase })).value;
}

/** The cheapest fare that an escrow accepts: in USD, 10.00 or more. */
function cheapest(offers: readonly Offer[]): string {
  const fares = offers.flatMap((offer) => fareFamilies(offer).fares);
  const [first] = fares
    .filter((fare) => fare.total_currency === 'USD' && Number(fare.total_amount_decimal) >= 10)
    .toSorted((a, b) => Number(a.total_amount_decimal) - Number(b.total_amount_decimal));
  if (!first) throw problem('offer_unsupported', { message: 'The search found no fare in USD.' });
  return first.offer_id;
}

async function escrowOf(session: Session, intent: Intent) {
  const { readEscrow } = await loadAccount();
  const { address, program_id: program } = intent.escrow;
  return readEscrow(await session.cluster(), address as Address, [program as Address]);
}

const plain = <T>(trail: T): { [name in keyof T]: unknown } =>
  JSON.parse(
    JSON.stringify(trail, (_name, inner: unknown) =>
      typeof inner === 'bigint'
        ? Number(inner)
        : inner instanceof Uint8Array
          ? Buffer.from(inner).toString('hex')
          : inner,
    ),
  );
