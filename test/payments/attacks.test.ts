import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  getApproveInstruction,
  getCloseAccountInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import type { Signer } from '../../src/solana/signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM } from '../../src/solana/token.ts';
import {
  type Challenge,
  credentialOf,
  decoded,
  encoded,
  newWallet,
  openShop,
  openWorld,
  payHeader,
  request,
  type Shop,
  type World,
} from './world.ts';

let world: World;
let shop: Shop;
let challenge: Challenge;
/** The 402 whose challenges are paid. */
let asking: Response;
let thief: Signer;
let ata: Address;
let vault: Address;

beforeAll(async () => {
  world = await openWorld();
  shop = openShop(world);
  thief = newWallet();
  await world.cluster.airdropUsdc(thief.address, 1_000_000n);
  await world.cluster.airdropSol(thief.address, 1_000_000_000n);
  ata = await associatedTokenAddress(world.wallet.address, DEVNET_USDC);
  vault = await associatedTokenAddress(world.treasury.address, DEVNET_USDC);
});
afterAll(() => world.close());

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111' as Address;

function unitLimit(units: number): Instruction {
  const data = Buffer.alloc(5);
  data.writeUInt8(2);
  data.writeUInt32LE(units, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

function unitPrice(microLamports: bigint): Instruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(3);
  data.writeBigUInt64LE(microLamports, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

const transfer = (amount = 100_000n, authority: Signer = world.wallet, to = vault): Instruction =>
  getTransferCheckedInstruction({ source: ata, mint: DEVNET_USDC, destination: to, authority, amount, decimals: 6 });

const memo = (text?: string): Instruction => ({
  programAddress: MEMO_PROGRAM,
  data: Buffer.from(text ?? challenge.accepts[0]?.extra.memo ?? ''),
});

/** A PAYMENT-SIGNATURE of any instructions, signed by everybody but the service's fee payer. */
async function forged(
  instructions: readonly Instruction[],
  signers: readonly Signer[] = [world.wallet],
  feePayer: Address = world.feePayer.address,
): Promise<string> {
  const latest = await world.cluster.latestBlockhash();
  const compiled = compileTransaction(
    appendTransactionMessageInstructions(
      instructions,
      setTransactionMessageLifetimeUsingBlockhash(
        { ...latest, blockhash: latest.blockhash as Blockhash },
        setTransactionMessageFeePayer(feePayer, createTransactionMessage({ version: 0 })),
      ),
    ),
  );
  const signatures: Record<string, SignatureBytes | null> = { ...compiled.signatures };
  for (const signer of signers) {
    if (signer.address in signatures) {
      signatures[signer.address] = signer.sign(new Uint8Array(compiled.messageBytes));
    }
  }
  return wrapped(Buffer.from(getTransactionEncoder().encode({ ...compiled, signatures })));
}

const wrapped = (wire: Buffer): string =>
  encoded({ x402Version: 2, accepted: challenge.accepts[0], payload: { transaction: wire.toString('base64') } });

const wireOf = (header: string): Buffer =>
  Buffer.from(decoded<{ payload: { transaction: string } }>(header).payload.transaction, 'base64');

const good = () => payHeader(world.cluster, world.wallet, challenge);
const base = () => [unitLimit(20_000), unitPrice(1n), transfer(), memo()];

/** Each makes a payment that must not be accepted, and the words of its refusal. */
const attacks: Record<string, [() => Promise<string>, RegExp]> = {
  'too little': [() => payHeader(world.cluster, world.wallet, challenge, { amount: 99_999n }), /amount/],
  'too much': [() => payHeader(world.cluster, world.wallet, challenge, { amount: 100_001n }), /amount/],
  'another payee': [
    () => payHeader(world.cluster, world.wallet, challenge, { payTo: thief.address }),
    /recipient_mismatch|goes to another account/,
  ],
  'the payer itself as payee': [
    () => payHeader(world.cluster, world.wallet, challenge, { payTo: world.wallet.address }),
    /recipient_mismatch|goes to another account/,
  ],
  'another coin': [
    () => payHeader(world.cluster, world.wallet, challenge, { asset: 'So11111111111111111111111111111111111111112' }),
    /another asset/,
  ],
  'another fee payer': [
    () => payHeader(world.cluster, world.wallet, challenge, { feePayer: thief.address }),
    /fee payer/,
  ],
  'another memo': [() => payHeader(world.cluster, world.wallet, challenge, { memo: 'pay_other' }), /no challenge/],
  'no memo': [() => forged([unitLimit(20_000), unitPrice(1n), transfer()]), /no challenge/],
  'two memos': [() => forged([...base(), memo()]), /no challenge/],
  'no compute limit': [() => forged([unitPrice(1n), transfer(), memo()]), /compute/],
  'two compute limits': [() => forged([unitLimit(20_000), unitLimit(20_000), transfer(), memo()]), /compute/],
  'a huge compute limit': [
    () => forged([unitLimit(1_400_000), unitPrice(100_000n), transfer(), memo()]),
    /priority fee is too high/,
  ],
  'a huge compute price': [
    () => forged([unitLimit(20_000), unitPrice(5_000_000n), transfer(), memo()]),
    /priority fee is too high/,
  ],
  'a product beyond 64 bits': [
    () => forged([unitLimit(4_294_967_295), unitPrice(18_446_744_073_709_551_615n), transfer(), memo()]),
    /priority fee is too high/,
  ],
  'a second transfer': [() => forged([...base(), transfer()]), /does not belong/],
  'no transfer': [() => forged([unitLimit(20_000), unitPrice(1n), memo(), memo('x')]), /no challenge/],
  'SOL of the fee payer': [
    () =>
      forged([
        ...base(),
        getTransferSolInstruction({ source: world.feePayer, destination: thief.address, amount: 500_000_000n }),
      ]),
    /touches the fee payer/,
  ],
  'a transfer authorised by the fee payer': [
    () => forged([unitLimit(20_000), unitPrice(1n), transfer(100_000n, world.feePayer), memo()]),
    /must sign|touches the fee payer/,
  ],
  'the fee payer as an account of the memo': [
    () =>
      forged([
        ...base().slice(0, 3),
        { ...memo(), accounts: [{ address: world.feePayer.address, role: AccountRole.READONLY_SIGNER }] },
      ]),
    /touches the fee payer/,
  ],
  'a third signer, at our cost': [
    () =>
      forged(
        [
          ...base().slice(0, 3),
          { ...memo(), accounts: [{ address: thief.address, role: AccountRole.READONLY_SIGNER }] },
        ],
        [world.wallet, thief],
      ),
    /must sign/,
  ],
  'an approval of the thief': [
    () =>
      forged([
        ...base(),
        getApproveInstruction({ source: ata, delegate: thief.address, owner: world.wallet, amount: 1n }),
      ]),
    /does not belong/,
  ],
  'a closed account': [
    () =>
      forged([
        ...base(),
        getCloseAccountInstruction({ account: ata, destination: thief.address, owner: world.wallet }),
      ]),
    /does not belong/,
  ],
  'no signature': [() => forged(base(), []), /not signed/],
  "another wallet's signature": [
    async () => {
      const wire = wireOf(await good());
      const { messageBytes } = getTransactionDecoder().decode(wire);
      wire.set(thief.sign(new Uint8Array(messageBytes)), 65);
      return wrapped(wire);
    },
    /signature is not valid/,
  ],
  'a message that was changed after it was signed': [
    async () => {
      const wire = wireOf(await good());
      const price = wire.indexOf(Buffer.from('030100000000000000', 'hex'));
      wire.writeUInt8(2, price + 1);
      return wrapped(wire);
    },
    /signature is not valid/,
  ],
};

async function ask(body: unknown): Promise<void> {
  asking = await shop.fetch(request('/search', body));
  challenge = (await asking.clone().json()) as Challenge;
}

/** One transaction, sent by either protocol. */
const SENDING = {
  x402: (body: unknown, header: string) => request('/search', body, header),
  MPP: (body: unknown, header: string) => {
    const sent = request('/search', body);
    sent.headers.set('Authorization', credentialOf(asking, wireOf(header).toString('base64')));
    return sent;
  },
};

describe.each(Object.entries(SENDING))('by %s', (_protocol, send) => {
  test.each(Object.keys(attacks))('a payment with %s is refused, and nothing moves', async (name) => {
    await ask({ name });
    const [forge, reason] = attacks[name] ?? [];
    const before = {
      treasury: await world.usdc(world.treasury),
      wallet: await world.usdc(world.wallet),
      fees: await world.sol(world.feePayer),
    };
    const header = (await forge?.()) ?? '';
    const response = await shop.fetch(send({ name }, header)).catch((error: unknown) => error);
    if (response instanceof Response) {
      expect(response.status).toBe(402);
      const { error } = (await response.json()) as Challenge;
      expect(error).toMatch(/^payment_verification_failed: /);
      expect(error).toMatch(reason ?? /never/);
    } else {
      expect(response).toMatchObject({ code: 'invalid_payment_signature' });
    }
    expect(shop.performed).toEqual([]);
    expect({
      treasury: await world.usdc(world.treasury),
      wallet: await world.usdc(world.wallet),
      fees: await world.sol(world.feePayer),
    }).toEqual(before);
    expect(await world.store.selectFrom('settlements').selectAll().execute()).toEqual([]);
  });

  test('a transaction with an address lookup table is refused', async () => {
    await ask({});
    const wire = wireOf(await good());
    // The message ends with the number of its lookup tables: one, of which nothing is used.
    const tables = Buffer.concat([wire.subarray(0, -1), Buffer.from([1]), Buffer.alloc(32, 7), Buffer.from([0, 0])]);
    const { messageBytes } = getTransactionDecoder().decode(tables);
    tables.set(world.wallet.sign(new Uint8Array(messageBytes)), 65);
    const response = await shop.fetch(send({}, wrapped(tables)));
    expect(((await response.json()) as Challenge).error).toMatch(/lookup/);
  });
});

test('accepted requirements that were changed are refused, though the transaction is right', async () => {
  await ask({});
  const sent = decoded<{ accepted: Record<string, unknown> }>(await good());
  for (const change of [{ amount: '1' }, { payTo: thief.address }, { asset: 'x' }, { scheme: 'upto' }]) {
    const header = encoded({ ...sent, accepted: { ...sent.accepted, ...change } });
    expect((await shop.fetch(request('/search', {}, header))).status).toBe(402);
  }
  expect(shop.performed).toEqual([]);
});
