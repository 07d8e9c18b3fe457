import * as z from 'zod';

/** The documents that a command prints under --json. */
export interface Published {
  readonly document: z.ZodType;
  /** Other documents of the same command, by kind. */
  readonly others?: Readonly<Record<string, z.ZodType>>;
  /** The document of --dry-run. */
  readonly plan?: z.ZodType;
  /** True if the document is printed again as things change, one on a line. */
  readonly streams?: true;
  /** The lines of --ndjson, by kind. */
  readonly lines?: Readonly<Record<string, z.ZodType>>;
}

export const published = <Document extends z.ZodType>(document: Document, more: Omit<Published, 'document'> = {}) => ({
  document,
  ...more,
});

/** The document of a command as a type: `DocumentOf<typeof result.doctor>`. */
export type DocumentOf<P extends Published> = z.infer<P['document']>;

export const usdc = z
  .string()
  .regex(/^-?\d{1,12}(\.\d{1,6})?$/)
  .describe('Decimal USDC.');

export const sol = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,9})?$/)
  .describe('Decimal SOL.');

export const atomicUsdc = z.int().describe('Atomic USDC: millionths.');

export const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .describe('Base58 address on Solana.');

export const signature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
  .describe('Signature of a Solana transaction.');

export const network = z.string().describe('CAIP-2 name of the Solana cluster, such as solana:EtWT….');
export const instant = z.iso.datetime().describe('UTC, RFC 3339.');

export const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .describe('YYYY-MM-DD.');

/** The document of a paid answer, with its payment. */
export const paid = <T extends z.ZodRawShape>(document: z.ZodObject<T>) =>
  z.strictObject({ ...document.shape, payment: payment.optional() });

export const payment = z
  .strictObject({
    amount: usdc,
    asset: address.describe('The mint of the coin.'),
    transaction: z.string().describe('Signature of the transaction that paid.'),
    network,
  })
  .describe('What was paid for this answer; absent where nothing was.');

export const check = z.strictObject({ check: z.string(), expected: z.string(), found: z.string(), ok: z.boolean() });

const steps = z.array(z.string()).describe('What would be done, in this order.');
const dryRun = z.literal(true).describe('Nothing was done.');

/** The document of `--dry-run`. */
export const plan = <T extends z.ZodRawShape>(facts: T) => z.strictObject({ dry_run: dryRun, plan: steps, ...facts });

/** The document of a paid call's `--dry-run`: the payment to sign, and the decision. */
export const paidPlan = <T extends z.ZodRawShape>(facts: T) =>
  plan({ ...facts, payment: plannedPayment.nullable().describe('null: the service asks for none.') });

const plannedPayment = z.strictObject({
  resource: z.string().describe('Method and path of the call.'),
  host: z.string(),
  amount: usdc,
  amount_atomic: atomicUsdc,
  asset: address.describe('The mint of the coin.'),
  pay_to: address,
  network,
  memo: z.string().nullable().describe('null: the service asks for none; a random one would be written.'),
  fee_payer: address,
  expires_at: instant.nullable().describe('UTC, RFC 3339; null: the challenge names no end.'),
  wallet: address.nullable().describe('null: there is no wallet yet.'),
  decision: z
    .enum(['sign', 'ask', 'refuse', 'resend', 'kept'])
    .describe(
      'resend: signed before and not answered; the same payment would be sent again. kept: paid before; its answer, not shown yet, would be shown.',
    ),
  reason: z
    .strictObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why it would be refused, or what would be asked.'),
});
