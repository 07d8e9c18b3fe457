import { createHash } from 'node:crypto';
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getBase58Decoder,
  getTransactionEncoder,
  type Instruction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferInstruction } from '@solana-program/token';
import { authorizationPlace, authorizeInstructions } from '../../../src/escrow/authorization.ts';
import { consentInstruction, ESCROW_PROGRAM_ID } from '../../../src/escrow/index.ts';
import { createTokenAccount } from '../../../src/escrow/instruction.ts';
import { consentTo, operationInstruction, termsOf, type Wanted } from '../../../src/payments/auth-capture-terms.ts';
import {
  associatedTokenAddress,
  computeBudget,
  DEVNET_USDC,
  MEMO_PROGRAM,
  type Signer,
  signerFromSeed,
} from '../../../src/solana/index.ts';
import { NETWORK } from './stage.ts';
import { createMachine, played, type Vector, type Vectors } from './vector-chain.ts';

/** Makes docs/vectors/auth-capture-svm.json, from fixed seeds: the same file each time. */

const hashOf = (text: string) => createHash('sha256').update(`auth-capture vectors: ${text}`).digest();
const NAMES = ['feePayer', 'operator', 'authorizer', 'payer', 'payTo', 'stranger'] as const;
type Name = (typeof NAMES)[number];
const keys = Object.fromEntries(NAMES.map((name) => [name, signerFromSeed(hashOf(name))])) as Record<Name, Signer>;

const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const NOW = 1_800_000_000;
const CAPTURE_BY = NOW + 3_600;
const REFUND_BY = NOW + 86_400;
const AMOUNT = 150_000n;

const HEAD: Omit<Vectors, 'vectors'> = {
  ...{ network: NETWORK, genesis: GENESIS, program: ESCROW_PROGRAM_ID, mint: DEVNET_USDC },
  blockhash: getBase58Decoder().decode(hashOf('blockhash')),
  keys: Object.fromEntries(
    NAMES.map((name) => [name, { seed: hashOf(name).toString('hex'), address: keys[name].address }]),
  ) as unknown as Vectors['keys'],
};

const requirementsOf = (extra: object = {}, more: object = {}) => ({
  ...{ scheme: 'auth-capture', network: NETWORK, asset: DEVNET_USDC as string, payTo: keys.payTo.address as string },
  ...{ amount: `${AMOUNT}`, maxTimeoutSeconds: 60, ...more },
  extra: {
    ...{
      paymentFlow: 'escrow',
      program: ESCROW_PROGRAM_ID as string,
      genesis: GENESIS,
      feePayer: keys.feePayer.address as string,
    },
    ...{ captureAuthorizer: keys.operator.address as string, receiverAuthorizer: keys.authorizer.address as string },
    ...{ captureDeadline: CAPTURE_BY, refundDeadline: REFUND_BY, ...extra },
  },
});
type Requirements = ReturnType<typeof requirementsOf>;

const acceptedOf = (one: Requirements) => ({ ...one, amount: BigInt(one.amount) }) as never;

function signedBy(
  signers: readonly Signer[],
  instructions: readonly Instruction[],
  feePayer = keys.feePayer.address,
): string {
  const life = { blockhash: HEAD.blockhash as Blockhash, lastValidBlockHeight: 1_000n };
  const message = setTransactionMessageLifetimeUsingBlockhash(
    life,
    setTransactionMessageFeePayer(feePayer, createTransactionMessage({ version: 0 })),
  );
  const compiled = compileTransaction(appendTransactionMessageInstructions(instructions, message));
  const own = Object.fromEntries(signers.map((one) => [one.address, one.sign(new Uint8Array(compiled.messageBytes))]));
  const whole = { ...compiled, signatures: { ...compiled.signatures, ...own } };
  return Buffer.from(getTransactionEncoder().encode(whole)).toString('base64');
}

const memo = (text: string, accounts: Instruction['accounts'] = []): Instruction => ({
  ...{ programAddress: MEMO_PROGRAM, data: new Uint8Array(Buffer.from(text)), accounts },
});

const BUDGET = computeBudget(150_000, 1n);

interface Collecting {
  readonly accepted?: Requirements;
  readonly nonce?: string;
  readonly payer?: Signer;
  readonly source?: Address;
  readonly change?: (instructions: {
    budget: Instruction[];
    vault: Instruction;
    authorize: Instruction;
  }) => Instruction[];
  readonly signers?: readonly Signer[];
  readonly payload?: object;
}

async function collect(name: string, how: Collecting = {}) {
  const { accepted = requirementsOf(), payer = keys.payer, nonce = hashOf(`nonce ${name}`).toString('hex') } = how;
  const terms = termsOf(acceptedOf(accepted), { payer: payer.address, nonce });
  const place = await authorizationPlace(terms, accepted.extra.program as Address);
  const [vault, authorize] = (await authorizeInstructions({
    ...{ ...terms, programId: accepted.extra.program as Address, rentPayer: keys.feePayer.address, source: how.source },
  })) as [Instruction, Instruction];
  const { change = (all) => [...all.budget, all.vault, all.authorize] } = how;
  const transaction = signedBy(how.signers ?? [payer], change({ budget: BUDGET, vault, authorize }));
  const salt = Buffer.from(place.salt).toString('hex');
  const payload = { transaction, payer: payer.address as string, nonce, salt, ...how.payload };
  return { paymentPayload: { x402Version: 2, accepted, payload }, place: { ...place, terms }, accepted };
}

interface Operating extends Partial<Omit<Wanted, 'type' | 'funder'>> {
  readonly openedAt?: number;
  readonly funder?: Signer;
  readonly authorizer?: Signer;
  /** What is sent differs from what was signed. */
  readonly sent?: object;
  readonly change?: (instructions: Instruction[]) => Instruction[];
}

type Collected = Awaited<ReturnType<typeof collect>>;

async function operate({ place, accepted, paymentPayload }: Collected, type: Wanted['type'], how: Operating = {}) {
  const { funder, authorizer = keys.authorizer, openedAt = NOW, sent, change = (all) => all, ...rest } = how;
  const wanted: Wanted = {
    ...{ type, expectedCapturable: AMOUNT, expectedRefundable: 0n, validUntil: REFUND_BY, ...rest },
    ...(funder && { funder: funder.address }),
  };
  const whole = { ...place, programId: accepted.extra.program as Address };
  const allowed = await operationInstruction(whole as never, wanted, { rentPayer: keys.feePayer.address });
  const message = consentTo(allowed, openedAt);
  const signature = authorizer.sign(message);
  const { payer, nonce, salt } = paymentPayload.payload;
  const consent = consentInstruction({ authorizer: accepted.extra.receiverAuthorizer as Address, message, signature });
  const texts = Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  );
  const payload = {
    ...{ payer, nonce, salt, ...texts, openedAt, authorizerSignature: Buffer.from(signature).toString('base64') },
    ...(funder && { transaction: signedBy([funder], change([...BUDGET, consent, allowed])) }),
    ...sent,
  };
  return { x402Version: 2, accepted, payload };
}

type Token = Vector['tokens'][number];
const walletOf = (owner: string) => associatedTokenAddress(owner as Address, DEVNET_USDC);
const token = async (owner: string, amount: bigint, more: Partial<Token> = {}): Promise<Token> => ({
  ...{ address: await walletOf(owner), owner, amount: `${amount}`, ...more },
});

interface Draft {
  readonly name: string;
  readonly reason?: string;
  readonly payload: Record<string, unknown>;
  readonly requirements: Requirements;
  readonly tokens?: readonly Token[];
  readonly escrow?: Vector['escrow'];
  readonly now?: number;
  readonly calls?: Vector['calls'];
  readonly facilitator?: Vector['facilitator'];
  readonly vault: string;
}

const usual = async (): Promise<Token[]> => [
  await token(keys.payer.address, 1_000_000n),
  await token(keys.payTo.address, 500_000n),
  await token(keys.stranger.address, 300_000n),
];

const machine = createMachine(HEAD);

const drafts: (() => Promise<Draft>)[] = [];

/** A collect: what is asked for is what was accepted, unless it is said. */
function collects(
  name: string,
  how: Collecting &
    Partial<Pick<Draft, 'now' | 'calls' | 'facilitator' | 'reason' | 'requirements'>> & {
      readonly tokens?: (all: Token[], vault: string, escrow: string) => Promise<Token[]> | Token[];
      readonly escrowOf?: true;
    } = {},
): void {
  drafts.push(async () => {
    const made = await collect(name, how);
    const { tokens = (all: Token[]) => all, requirements = made.accepted, now, calls, facilitator, reason } = how;
    const there = how.escrowOf ? await opened(made) : undefined;
    return {
      ...{ name, payload: made.paymentPayload as never, requirements, vault: made.place.vault },
      tokens: [...(await tokens(await usual(), made.place.vault, made.place.escrow)), ...(there ? [there.vault] : [])],
      ...(there && { escrow: there.escrow }),
      ...(now !== undefined && { now }),
      ...(calls && { calls }),
      ...(facilitator && { facilitator }),
      ...(reason && { reason }),
    };
  });
}

/** The accounts after an authorize and further operations, as the program leaves them. */
async function opened(made: Collected, ...then: { type: Wanted['type']; how: Operating }[]) {
  let state: { tokens: Token[]; escrow?: NonNullable<Vector['escrow']> } = { tokens: await usual() };
  const { vault, escrow } = made.place;
  const step = async (paymentPayload: unknown) => {
    const watched = [...state.tokens.map((one) => one.address), vault];
    const one = {
      name: '',
      now: NOW,
      calls: ['settle'] as const,
      ...state,
      paymentPayload,
      paymentRequirements: made.accepted,
    };
    const { answers, tokensAfter, chain } = await played(machine, HEAD, one as never, watched);
    if (answers[0]?.reason) throw new Error(`a step is refused: ${answers[0].reason}`);
    const owners = new Map<string, string>([
      ...state.tokens.map((each) => [each.address, each.owner] as const),
      [vault, escrow],
    ]);
    const data = chain.account(escrow as Address)?.data;
    state = {
      tokens: Object.entries(tokensAfter).flatMap(([address, amount]) =>
        amount === null ? [] : [{ address, owner: `${owners.get(address)}`, amount }],
      ),
      ...(data && { escrow: { address: escrow, data: Buffer.from(data).toString('base64') } }),
    };
  };
  await step(made.paymentPayload);
  for (const { type, how } of then) await step(await operate(made, type, how));
  const found = state.tokens.find((one) => one.address === vault) ?? { address: vault, owner: escrow, amount: '0' };
  return { ...state, escrow: state.escrow as NonNullable<Vector['escrow']>, vault: found };
}

function operates(
  name: string,
  type: Wanted['type'],
  how: Operating & {
    readonly accepted?: Requirements;
    readonly after?: { type: Wanted['type']; how: Operating }[];
    readonly now?: number;
    readonly calls?: Vector['calls'];
    readonly reason?: string;
    readonly tokens?: (all: Token[]) => Token[];
    readonly without?: true;
    readonly requirements?: Requirements;
  } = {},
): void {
  drafts.push(async () => {
    const {
      accepted,
      after = [],
      now,
      calls,
      reason,
      tokens = (all: Token[]) => all,
      without,
      requirements,
      ...operating
    } = how;
    const made = await collect(name, accepted ? { accepted } : {});
    const there = without ? { tokens: await usual() } : await opened(made, ...after);
    return {
      ...{
        name,
        payload: (await operate(made, type, operating)) as never,
        requirements: requirements ?? made.accepted,
        vault: made.place.vault,
      },
      tokens: tokens(there.tokens as Token[]),
      ...('escrow' in there && { escrow: there.escrow }),
      ...(now !== undefined && { now }),
      ...(calls && { calls }),
      ...(reason && { reason }),
    };
  });
}

const capturing = (amount: bigint, how: Operating = {}) => ({
  type: 'capture' as const,
  how: { amount, release: false, ...how },
});
const ofPayer = (one: Token) => one.owner === keys.payer.address;

// ---- Accepted -------------------------------------------------------------------------------------------------------

collects('authorize');
collects('authorize: settled twice, one answer', { calls: ['settle', 'settle'] });
collects('authorize: the price before the limit', {
  change: ({ budget, vault, authorize }) => [...budget.toReversed(), vault, authorize],
});
collects('authorize: the memo of the requirements', {
  accepted: requirementsOf({ memo: 'order 7' }),
  change: ({ budget, vault, authorize }) => [...budget, vault, authorize, memo('order 7')],
});
const nonceOf = (name: string) => hashOf(name).toString('hex');
collects('authorize: the nonce of the requirements', {
  ...{ accepted: requirementsOf({ nonce: nonceOf('order 7') }), nonce: nonceOf('order 7') },
});
collects('authorize: four memos beside', {
  change: ({ budget, vault, authorize }) => [
    ...budget,
    vault,
    authorize,
    ...['a', 'b', 'c', 'd'].map((text) => memo(text)),
  ],
});
collects('authorize: the vault is there, with tokens that were sent to it', {
  change: ({ budget, authorize }) => [...budget, authorize],
  tokens: (all, vault, escrow) => [...all, { address: vault, owner: escrow, amount: '5' }],
});
collects('authorize: a challenge 60 seconds old', {
  requirements: requirementsOf({ captureDeadline: CAPTURE_BY + 60, refundDeadline: REFUND_BY + 60 }),
});
collects('authorize: both deadlines are the same', { accepted: requirementsOf({ refundDeadline: CAPTURE_BY }) });
collects('authorize: the capture deadline is 6 seconds ahead', { now: CAPTURE_BY - 6 });
collects('authorize: one unit', { accepted: requirementsOf({}, { amount: '1' }) });
const OTHER_SOURCE = getAddressDecoder().decode(hashOf('another token account'));
collects('authorize: from another token account of the payer', {
  source: OTHER_SOURCE,
  tokens: (all) => [...all, { address: OTHER_SOURCE, owner: keys.payer.address, amount: '150000' }],
});
collects('authorize: for an operator elsewhere', {
  accepted: requirementsOf({ captureAuthorizer: keys.stranger.address }),
});

operates('capture: all', 'capture', { amount: AMOUNT, release: true });
operates('capture: all, without release', 'capture', { amount: AMOUNT, release: false });
operates('capture: a part, and the rest back', 'capture', { amount: 40_000n, release: true });
operates('capture: a part', 'capture', { amount: 40_000n, release: false });
operates('capture: settled twice, one answer', 'capture', {
  amount: 40_000n,
  release: false,
  calls: ['settle', 'settle'],
});
operates('capture: a second part', 'capture', {
  ...{ amount: 100_000n, release: true, expectedCapturable: 110_000n, expectedRefundable: 40_000n },
  after: [capturing(40_000n)],
});
operates('capture: in the last second', 'capture', { amount: AMOUNT, release: true, now: CAPTURE_BY - 1 });
operates('capture: the payer has no token account, the rest stays in the vault', 'capture', {
  ...{ amount: 40_000n, release: true },
  tokens: (all) => all.filter((one) => !ofPayer(one)),
});
operates('void', 'void');
operates('void: what a capture left', 'void', {
  ...{ expectedCapturable: 110_000n, expectedRefundable: 40_000n },
  after: [capturing(40_000n)],
});
const REFUNDING = {
  expectedCapturable: 0n,
  expectedRefundable: AMOUNT,
  funder: keys.payTo,
  after: [capturing(AMOUNT)],
};
operates('refund: all', 'refund', { ...REFUNDING, amount: AMOUNT });
operates('refund: a part', 'refund', { ...REFUNDING, amount: 30_000n });
operates('refund: while the rest is still held', 'refund', {
  ...{ ...REFUNDING, amount: 40_000n, expectedCapturable: 110_000n, expectedRefundable: 40_000n },
  after: [capturing(40_000n)],
});
operates('refund: in the last second', 'refund', { ...REFUNDING, amount: AMOUNT, now: REFUND_BY - 1 });
operates('refund: funded by somebody else', 'refund', { ...REFUNDING, amount: AMOUNT, funder: keys.stranger });

// ---- Refused --------------------------------------------------------------------------------------------------------

const format = { reason: 'payload_format' };
collects('refused: no transaction', { ...format, payload: { transaction: undefined } });
collects('refused: a transaction that is none', { ...format, payload: { transaction: 'AAAA' } });
collects('refused: a nonce in capitals', { ...format, payload: { nonce: hashOf('x').toString('hex').toUpperCase() } });
operates('refused: an amount with a leading zero', 'capture', {
  ...format,
  amount: 40_000n,
  release: true,
  sent: { amount: '040000' },
});
operates('refused: a capture of nothing', 'capture', { ...format, amount: 0n, release: false });
operates('refused: an operation that there is not', 'capture', {
  ...format,
  amount: 1n,
  release: false,
  sent: { type: 'charge' },
});

const mismatch = { reason: 'terms_mismatch' };
collects('refused: another receiver than was asked for', {
  ...mismatch,
  requirements: requirementsOf({}, { payTo: keys.stranger.address }),
});
collects('refused: another amount than was asked for', {
  ...mismatch,
  requirements: requirementsOf({}, { amount: '150001' }),
});
collects('refused: another genesis hash', { ...mismatch, accepted: requirementsOf({ genesis: HEAD.blockhash }) });
collects('refused: another program', { ...mismatch, accepted: requirementsOf({ program: keys.stranger.address }) });
collects('refused: a challenge 61 seconds old', {
  ...mismatch,
  requirements: requirementsOf({ captureDeadline: CAPTURE_BY + 61 }),
});
collects('refused: deadlines later than was asked for', {
  ...mismatch,
  requirements: requirementsOf({ refundDeadline: REFUND_BY - 1 }),
});
collects('refused: Authorize is of a smaller amount', {
  ...mismatch,
  change({ budget, vault, authorize }) {
    const data = new Uint8Array(authorize.data ?? []);
    new DataView(data.buffer).setBigUint64(65, AMOUNT - 1n, true);
    return [...budget, vault, { ...authorize, data }];
  },
});
operates('refused: a capture that names another receiver', 'capture', {
  ...{ ...mismatch, amount: AMOUNT, release: true },
  accepted: requirementsOf({}, { payTo: keys.stranger.address }),
  requirements: requirementsOf(),
});

const order = { reason: 'deadline_order' };
collects('refused: the refund deadline is before the capture deadline', {
  ...order,
  accepted: requirementsOf({ refundDeadline: CAPTURE_BY - 1 }),
});
collects('refused: the capture deadline is 5 seconds ahead', { ...order, now: CAPTURE_BY - 5 });

const salted = { reason: 'salt_mismatch' };
collects('refused: another salt', { ...salted, payload: { salt: hashOf('salt').toString('hex') } });
operates('refused: a void with another nonce', 'void', { ...salted, sent: { nonce: hashOf('nonce').toString('hex') } });

const layout = { reason: 'transaction_layout' };
const pays = async () =>
  getTransferInstruction({
    ...{ source: await walletOf(keys.payer.address), destination: await walletOf(keys.stranger.address), amount: 1n },
    authority: { address: keys.payer.address } as never,
  });
drafts.push(async () => {
  const transfer = await pays();
  const accounts = transfer.accounts.map(({ address, role }) => ({
    address,
    role: address === keys.payer.address ? AccountRole.READONLY_SIGNER : role,
  }));
  const name = 'refused: a transfer beside';
  const made = await collect(name, {
    change: ({ budget, vault, authorize }) => [...budget, vault, authorize, { ...transfer, accounts } as Instruction],
  });
  return {
    name,
    ...layout,
    payload: made.paymentPayload as never,
    requirements: made.accepted,
    vault: made.place.vault,
    tokens: await usual(),
  };
});
collects('refused: Authorize twice', {
  ...layout,
  change: ({ budget, vault, authorize }) => [...budget, vault, authorize, authorize],
});
collects('refused: no Authorize', {
  ...layout,
  change: ({ budget, vault }) => [
    ...budget,
    vault,
    memo('x', [{ address: keys.payer.address, role: AccountRole.READONLY_SIGNER }]),
  ],
});
collects('refused: five memos', {
  ...layout,
  change: ({ budget, vault, authorize }) => [
    ...budget,
    vault,
    authorize,
    ...['a', 'b', 'c', 'd', 'e'].map((text) => memo(text)),
  ],
});
collects('refused: another nonce than that of the requirements', {
  ...{ accepted: requirementsOf({ nonce: nonceOf('order 7') }), nonce: nonceOf('order 8') },
  reason: 'terms_mismatch',
});
collects('refused: another memo', {
  ...{ ...layout, accepted: requirementsOf({ memo: 'order 7' }) },
  change: ({ budget, vault, authorize }) => [...budget, vault, authorize, memo('order 8')],
});
collects('refused: the fee payer creates an account of somebody else', {
  ...layout,
  change: ({ budget, authorize }) => [
    ...budget,
    createTokenAccount(keys.feePayer.address, OTHER_SOURCE, keys.payer.address, DEVNET_USDC),
    authorize,
  ],
});
operates('refused: a refund transaction with a memo beside', 'refund', {
  ...{ ...REFUNDING, ...layout, amount: AMOUNT },
  change: (all) => [...all, memo('x')],
});

const signers = { reason: 'signers' };
collects('refused: a third signer', {
  ...{ ...signers, signers: [keys.payer, keys.stranger] },
  change: ({ budget, vault, authorize }) => [
    ...[...budget, vault, authorize],
    memo('x', [{ address: keys.stranger.address, role: AccountRole.READONLY_SIGNER }]),
  ],
});
collects('refused: the payer has not signed', { ...signers, signers: [] });
const elsewhere = { ...keys.payer, sign: () => keys.payer.sign(new Uint8Array(hashOf('another message'))) };
collects('refused: the payer has signed something else', { ...signers, signers: [elsewhere] });
collects('refused: the payer is a key of the facilitator', { ...signers, payer: keys.operator });
operates('refused: the funder has not signed', 'refund', {
  ...{ ...REFUNDING, ...signers, amount: AMOUNT, funder: { ...keys.payTo, sign: () => new Uint8Array(64) as never } },
});
collects('refused: the fee payer in a memo', {
  reason: 'fee_payer_used',
  change: ({ budget, vault, authorize }) => [
    ...[...budget, vault, authorize],
    memo('x', [{ address: keys.feePayer.address, role: AccountRole.READONLY_SIGNER }]),
  ],
});
collects('refused: money from an account that is the fee payer', {
  reason: 'fee_payer_used',
  source: keys.feePayer.address,
});

const budget = { reason: 'compute_budget' };
collects('refused: a bid of 10,001 lamports', {
  ...budget,
  change: ({ vault, authorize }) => [...computeBudget(100_000, 100_010n), vault, authorize],
});
collects('refused: no compute price', {
  ...budget,
  change: ({ budget: [limit], vault, authorize }) => [limit as Instruction, vault, authorize],
});

collects('refused: authorized already, by another transaction', {
  reason: 'already_authorized',
  escrowOf: true,
  tokens: () => [],
});
collects('refused: too many holds of one payer', {
  reason: 'too_many_holds',
  calls: ['settle'],
  facilitator: { mostHoldsPerPayer: 0 },
});
collects('refused: the payer has too little', {
  reason: 'simulation',
  tokens: (all) => all.map((one) => (ofPayer(one) ? { ...one, amount: '149999' } : one)),
});
collects('refused: the payer’s account is frozen', {
  reason: 'simulation',
  tokens: (all) => all.map((one) => (ofPayer(one) ? { ...one, frozen: true as const } : one)),
});
collects('refused: the receiver has no token account', {
  reason: 'simulation',
  tokens: (all) => all.filter((one) => one.owner !== keys.payTo.address),
});
operates('refused: a void without an account of the payer', 'void', {
  reason: 'simulation',
  tokens: (all) => all.filter((one) => !ofPayer(one)),
});

operates('refused: a capture for an operator elsewhere', 'capture', {
  ...{ reason: 'lifecycle_not_relayed', amount: AMOUNT, release: true },
  accepted: requirementsOf({ captureAuthorizer: keys.stranger.address }),
});
const passed = { reason: 'deadline_passed' };
operates('refused: a capture at its deadline', 'capture', {
  ...passed,
  amount: AMOUNT,
  release: true,
  now: CAPTURE_BY,
});
operates('refused: a void at the capture deadline', 'void', { ...passed, now: CAPTURE_BY });
operates('refused: a refund at its deadline', 'refund', { ...REFUNDING, ...passed, amount: AMOUNT, now: REFUND_BY });
operates('refused: a consent that has expired', 'capture', {
  ...passed,
  amount: AMOUNT,
  release: true,
  validUntil: NOW + 9,
  now: NOW + 10,
});
const moved = { reason: 'balance_mismatch' };
operates('refused: amounts that have moved on', 'capture', {
  ...moved,
  amount: 40_000n,
  release: false,
  after: [capturing(40_000n)],
});
operates('refused: there is no authorization', 'capture', { ...moved, amount: 40_000n, release: false, without: true });
operates('refused: a capture after the end', 'capture', {
  ...{ ...moved, amount: 1n, release: false, expectedCapturable: 0n, expectedRefundable: AMOUNT },
  after: [capturing(AMOUNT)],
});
operates('refused: more than can be captured', 'capture', {
  reason: 'capture_exceeds',
  amount: AMOUNT + 1n,
  release: false,
});
operates('refused: more than can be refunded', 'refund', {
  ...REFUNDING,
  reason: 'refund_exceeds',
  amount: AMOUNT + 1n,
});
const consent = { reason: 'consent' };
operates('refused: a consent by another key', 'capture', {
  ...consent,
  amount: AMOUNT,
  release: true,
  authorizer: keys.operator,
});
operates('refused: a consent to another amount', 'capture', {
  ...consent,
  amount: 40_000n,
  release: false,
  sent: { amount: '40001' },
});
operates('refused: a consent to a capture without release', 'capture', {
  ...consent,
  amount: 40_000n,
  release: false,
  sent: { release: true },
});
operates('refused: a consent for an earlier life of the address', 'void', { ...consent, openedAt: NOW - 1 });
const source = { reason: 'refund_source' };
operates('refused: a refund from a key of the facilitator', 'refund', {
  ...REFUNDING,
  ...source,
  amount: AMOUNT,
  funder: keys.operator,
});
operates('refused: a refund from the payer', 'refund', { ...REFUNDING, ...source, amount: AMOUNT, funder: keys.payer });

/** All vectors. What is expected was played: `reason` was written by hand, amounts are checked to the unit (sums). */
export async function madeVectors(): Promise<Vectors> {
  const vectors: Vector[] = [];
  for (const draft of drafts) {
    const {
      name,
      reason,
      payload,
      requirements,
      vault,
      tokens = [],
      now = NOW,
      calls = ['verify', 'settle'],
      ...more
    } = await draft();
    const paymentPayload = JSON.parse(JSON.stringify(payload)) as Record<string, unknown>;
    const watched = [...new Set([...tokens.map((one) => one.address), vault])];
    const one = { name, now, tokens, calls, paymentPayload, paymentRequirements: requirements, ...more };
    const { answers, tokensAfter } = await played(machine, HEAD, one as never, watched);
    const { amount, extra } = answers.at(-1) ?? {};
    const wanted = reason === undefined ? null : `invalid_auth_capture_svm_${reason}`;
    const accepted = wanted === null ? { amount, extra } : {};
    vectors.push({ ...one, expect: { reason: wanted, ...accepted, tokensAfter } } as unknown as Vector);
  }
  return { ...HEAD, vectors };
}
