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

/** The limit of x402's own client: a transfer and a memo need about half of it. */
const COMPUTE_UNITS = 20_000;
const PRICE_MICROLAMPORTS = 1n;

interface PaymentOrder {
  readonly feePayer: Address;
  readonly payTo: Address;
  readonly asset: Address;
  /** Atomic units. */
  readonly amount: bigint;
  readonly memo: string;
  /** The token accounts of the payer and of `payTo`, where they were derived already. */
  readonly accounts?: TokenAccounts | null;
}

export interface TokenAccounts {
  readonly source: Address;
  readonly destination: Address;
}

/** The associated token accounts between which a payment moves. */
export async function tokenAccountsOf(
  payer: Address,
  order: Pick<PaymentOrder, 'payTo' | 'asset'>,
): Promise<TokenAccounts> {
  const [source, destination] = await Promise.all([
    associatedTokenAddress(payer, order.asset),
    associatedTokenAddress(order.payTo, order.asset),
  ]);
  return { source, destination };
}

/**
 * The transaction of an `exact` payment on Solana, signed by the payer alone: compute limit and price, the transfer
 * between the associated token accounts, the memo. In the form that x402's specification asks for; built here because
 * x402's own client insists on an RPC address, and the embedded cluster has none.
 * @returns wire bytes in base64, the fee payer's signature still missing.
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
