import { AccountRole, type Address, type Instruction } from '@solana/kit';
import { USDC_DECIMALS } from '../../kernel/money.ts';
import {
  associatedTokenAddress,
  computeBudget,
  MEMO_PROGRAM,
  type Signer,
  signAlone,
  TOKEN_PROGRAM,
} from '../../solana/index.ts';

/** The limit of x402's client, about twice the need of a transfer and a memo. */
const COMPUTE_UNITS = 20_000;
const PRICE_MICROLAMPORTS = 1n;

interface PaymentOrder {
  readonly feePayer: Address;
  readonly payTo: Address;
  readonly asset: Address;
  readonly amount: bigint;
  readonly memo: string;
  /** The token accounts of the payer and `payTo`, if already derived. */
  readonly accounts?: TokenAccounts | null;
}

export type TokenAccounts = Awaited<ReturnType<typeof tokenAccountsOf>>;

export async function tokenAccountsOf(payer: Address, order: Pick<PaymentOrder, 'payTo' | 'asset'>) {
  const [source, destination] = await Promise.all([
    associatedTokenAddress(payer, order.asset),
    associatedTokenAddress(order.payTo, order.asset),
  ]);
  return { source, destination };
}

/**
 * Signs x402's `exact` payment by the payer alone: compute limit and price, the transfer, the memo. x402's own client
 * needs an RPC address, which the embedded cluster lacks.
 * @returns base64 wire bytes without the fee payer's signature
 */
export async function signPayment(
  payer: Signer,
  order: PaymentOrder,
  lifetime: { readonly blockhash: string; readonly lastValidBlockHeight: bigint },
): Promise<string> {
  const instructions = await paymentInstructions(payer.address, order);
  const wire = signAlone(payer, order.feePayer, { instructions, blockhash: lifetime });
  return Buffer.from(wire).toString('base64');
}

async function paymentInstructions(payer: Address, order: PaymentOrder): Promise<Instruction[]> {
  const { source, destination } = order.accounts ?? (await tokenAccountsOf(payer, order));
  const transfer = Buffer.alloc(10);
  transfer.writeUInt8(12);
  transfer.writeBigUInt64LE(order.amount, 1);
  transfer.writeUInt8(USDC_DECIMALS, 9);
  return [
    ...computeBudget(COMPUTE_UNITS, PRICE_MICROLAMPORTS),
    {
      programAddress: TOKEN_PROGRAM,
      accounts: [
        { address: source, role: AccountRole.WRITABLE },
        { address: order.asset, role: AccountRole.READONLY },
        { address: destination, role: AccountRole.WRITABLE },
        { address: payer, role: AccountRole.READONLY_SIGNER },
      ],
      data: transfer,
    },
    { programAddress: MEMO_PROGRAM, data: Buffer.from(order.memo) },
  ];
}
