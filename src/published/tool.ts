import * as z from 'zod';
import { address, atomicUsdc, check, instant, network, plan, sol, usdc } from './parts.ts';
import { type Published, published } from './published.ts';

/** The commands of the tool itself: the wallet, the journal of payments, settings, help. */

const paymentRecord = z.strictObject({
  payment_id: z.string(),
  state: z.enum(['signed', 'sent', 'refused', 'answered', 'abandoned']),
  open: z.boolean().describe('Not answered yet: payments resume sends it again.'),
  answer_kept: z
    .boolean()
    .describe('Answered, and not shown yet: payments resume shows it, and nothing more is paid.'),
  host: z.string(),
  resource: z.string().describe('Method and path of the call.'),
  wallet: address,
  amount: usdc,
  asset: address.describe('The mint of the coin.'),
  pay_to: address,
  network,
  transaction: z.string().nullable(),
  error_code: z.string().nullable(),
  created_at: instant,
  updated_at: instant,
});
const shownPayment = z.strictObject({
  ...paymentRecord.shape,
  memo: z.string().nullable(),
  fee_payer: address,
  last_valid_block_height: z.int().describe('Past this block height it cannot land any more.'),
});
const paymentVerification = z.strictObject({
  payment_id: z.string(),
  verdict: z.enum(['landed', 'mismatch', 'not_landed', 'waiting']),
  transaction: z.string().nullable(),
  memo: z.string().nullable(),
  checks: z.array(check),
});
const movement = z.strictObject({
  transaction: z.string(),
  at: instant.nullable(),
  change: z
    .string()
    .regex(/^[+-]?\d+(\.\d{1,6})?$/)
    .nullable()
    .describe('Decimal USDC with its sign; null for a transaction that failed.'),
  memo: z.string().nullable(),
  payment_id: z.string().nullable(),
  resource: z.string().nullable(),
});
const setting = z.strictObject({
  key: z.string(),
  value: z.string().nullable(),
  origin: z.string().describe('flag, environment, project, user, … or default.'),
  source: z.string().nullable().describe('The flag, variable or file.'),
});
const profile = z.strictObject({
  name: z.string(),
  used: z.boolean(),
  flights_url: z.string().nullable(),
  partner_url: z.string().nullable(),
  cluster: z.string().nullable(),
});
const traveller = z.strictObject({
  name: z.string().describe('What you call them.'),
  passport: z.enum(['none', 'valid', 'expired']),
  missing: z.array(z.string()).describe('Fields of a travel document that a booking may need.'),
  saved_at: instant,
});
const airport = z.strictObject({
  iata: z.string().regex(/^[A-Z]{3}$/),
  name: z.string(),
  city: z.string(),
  country: z.string().describe('ISO 3166-1 alpha-2.'),
  time_zone: z.string().describe('IANA zone.'),
});

const shape = z
  .strictObject({
    type: z.enum(['integer', 'string']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    enum: z.array(z.string()).optional(),
  })
  .describe('JSON Schema of the value.');
const parameter = z.strictObject({
  name: z.string(),
  short: z.string().optional(),
  description: z.string(),
  required: z.boolean(),
  repeated: z.boolean(),
  value: shape.nullable().describe('null: a switch, which takes no value.'),
  value_optional: z.literal(true).optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
});
const command = z.strictObject({
  name: z.string(),
  description: z.string(),
  effect: z.enum(['reads', 'pays', 'changes', 'local', 'runs']),
  arguments: z.array(parameter),
  options: z.array(parameter),
  examples: z.array(z.string()),
});

const settingsPlan = { plan: plan({}) };

export const TOOL_DOCUMENTS: Readonly<Record<string, Published>> = {
  'travellers list': published(z.strictObject({ travellers: z.array(traveller) }), { list: 'travellers' }),
  'travellers add': published(z.strictObject({ ...traveller.shape, replaced: z.boolean() }), settingsPlan),
  'travellers show': published(
    z.strictObject({ ...traveller.shape, fields: z.record(z.string(), z.string()) }),
  ),
  'travellers remove': published(
    z.strictObject({ name: z.string(), removed: z.literal(true) }),
    settingsPlan,
  ),
  airports: published(z.strictObject({ airports: z.array(airport) }), { list: 'airports' }),
  'wallet new': published(
    z.strictObject({ address, keypair_file: z.string(), created: z.literal(true) }),
    settingsPlan,
  ),
  'wallet show': published(
    z.strictObject({
      address,
      keypair_file: z.string(),
      network,
      usdc_mint: address,
      usdc_account: address,
      pay_url: z.string().optional().describe('Solana Pay address of the wallet, for its QR code.'),
    }),
  ),
  'wallet balance': published(
    z.strictObject({
      address,
      network,
      sol,
      lamports: z.int(),
      usdc,
      usdc_atomic: atomicUsdc,
    }),
  ),
  'wallet airdrop': published(
    z.strictObject({ address, sol, usdc, transactions: z.array(z.string()) }),
    settingsPlan,
  ),
  'wallet history': published(z.strictObject({ history: z.array(movement) }), { list: 'history' }),
  'wallet limits show': published(
    z.strictObject({
      profile: z.string(),
      wallet: address,
      network,
      per_call: usdc.describe('Decimal USDC; a call up to this is paid without a question.'),
      per_day: usdc.nullable().describe('Decimal USDC signed in 24 hours at most; null: no limit.'),
      booking: usdc.nullable().describe('Decimal USDC; null: no limit.'),
      hosts: z.array(z.string()).nullable().describe('null: the service of the profile.'),
      signed_24h: usdc,
      left_24h: usdc.nullable(),
    }),
  ),
  'wallet limits set': published(
    z.strictObject({
      profile: z.string().nullable().describe('null: for every profile without limits of its own.'),
      limits: z.record(z.string(), z.string().nullable()),
    }),
    settingsPlan,
  ),
  'payments list': published(z.strictObject({ payments: z.array(paymentRecord) }), { list: 'payments' }),
  'payments show': published(shownPayment),
  'payments verify': published(z.strictObject({ payments: z.array(paymentVerification) }), {
    list: 'payments',
  }),
  'payments resume': published(
    z.strictObject({
      payment: paymentRecord.nullable(),
      answer: z.unknown().describe("What was bought: the service's own answer; null while there is none."),
    }),
    settingsPlan,
  ),
  'config list': published(z.strictObject({ settings: z.array(setting) }), { list: 'settings' }),
  'config get': published(setting),
  'config set': published(
    z.union([
      z.strictObject({ profile: z.string(), key: z.string(), value: z.string() }),
      z.strictObject({ profile: z.string(), used: z.literal(true) }),
    ]),
    settingsPlan,
  ),
  'config unset': published(
    z.strictObject({ profile: z.string().optional(), key: z.string(), unset: z.literal(true) }),
    settingsPlan,
  ),
  'config profile list': published(z.strictObject({ profiles: z.array(profile) }), { list: 'profiles' }),
  'config profile add': published(
    z.strictObject({
      profile: z.string(),
      settings: z.record(z.string(), z.string()),
      used: z.boolean(),
    }),
    settingsPlan,
  ),
  'config profile use': published(
    z.strictObject({ profile: z.string(), used: z.literal(true) }),
    settingsPlan,
  ),
  'config profile remove': published(
    z.strictObject({ profile: z.string(), removed: z.literal(true) }),
    settingsPlan,
  ),
  serve: published(
    z.strictObject({
      flights_url: z.url(),
      partner_url: z.url(),
      rpc_url: z.url(),
      network,
      operator_key_file: z.string().nullable(),
    }),
  ),
  doctor: published(
    z.strictObject({
      status: z.enum(['ok', 'warning', 'failed']),
      home: z.string(),
      profile: z.string().nullable(),
      checks: z.array(
        z.strictObject({
          id: z.string(),
          status: z.enum(['ok', 'warning', 'failed']),
          message: z.string(),
          fix: z.string().nullable().describe('What to do; null: nothing is wrong.'),
          next: z.array(z.string()).describe('Commands that help.'),
        }),
      ),
    }),
  ),
  explain: published(
    z.strictObject({
      code: z.string(),
      message: z.string(),
      fix: z.string(),
      status: z.int().nullable().describe('HTTP status; null: only the tool raises it.'),
      exit: z.int().describe('Exit code of the tool.'),
      retryable: z.boolean(),
    }),
  ),
  schema: published(
    z.looseObject({ $schema: z.string(), $id: z.string(), title: z.string() }).describe('A JSON Schema.'),
    {
      others: {
        names: z
          .strictObject({ schemas: z.array(z.string()) })
          .describe('Without a command: those there are.'),
      },
    },
  ),
  completion: published(z.strictObject({ shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() })),
  guided: published(z.never().describe('It is for a person at a terminal, and prints no document.')),
  mcp: published(
    z.never().describe('It speaks the Model Context Protocol on its streams, and prints no document.'),
  ),
  help: published(
    z.strictObject({
      name: z.string(),
      version: z.string(),
      description: z.string(),
      global_options: z.array(parameter),
      commands: z.array(command),
    }),
  ),
};

/** `{ error }`: what any command prints under --json when it fails. */
export const ERROR_DOCUMENT = z.strictObject({
  error: z.strictObject({
    code: z.string().describe('Stable; farelock explain <code> says more.'),
    message: z.string(),
    fix: z.string().describe('What to do.'),
    retryable: z.boolean().describe('The same command may go through later.'),
    next: z.array(z.string()).describe('Commands that help now.'),
    detail: z.record(z.string(), z.unknown()).optional(),
  }),
});
