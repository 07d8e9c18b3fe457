import type { Problem, ProblemCode } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import type { Session } from '../session/index.ts';
import type { GlobalOptions } from '../settings/index.ts';
import { commandLine, helpOf, type Invocation } from '../spec/index.ts';

/** A command line that failed. */
export interface Failed {
  readonly argv: readonly string[];
  /** null: it was not understood. */
  readonly invocation:
    | (Pick<Invocation, 'name' | 'options'> & { readonly globals: Pick<GlobalOptions, 'keypair'> })
    | null;
  /** null: it was not opened. */
  readonly session: Session | null;
}

type Steps = (failed: Failed) => readonly string[] | Promise<readonly string[]>;

/** A command with the option that it names in braces, `refund show {id}`; null where that was not given. */
export function lookOf(look: string, { invocation }: Pick<Failed, 'invocation'>): string | null {
  const [braces, names = ''] = /\{([\w|]+)\}/.exec(look) ?? [];
  if (braces === undefined) return `farelock ${look}`;
  const options = (invocation?.options ?? {}) as Readonly<Record<string, unknown>>;
  const given = names.split('|').map((name) => options[name]);
  const value = given.find((one) => typeof one === 'string' && one !== '');
  return typeof value === 'string' ? `farelock ${look.replace(braces, () => quoted(value))}` : null;
}

const about =
  (look: string): Steps =>
  (failed) => {
    const command = lookOf(look, failed);
    return command === null ? [] : [command];
  };
const always =
  (...commands: readonly string[]): Steps =>
  () =>
    commands;

const status = about('status {intentId|id}');
const follow = about('status {intentId|id} --watch');
const order = about('partner orders show {orderId}');
const refundCase = about('refund show {id}');
const stuckCase = about('stuck show {id}');

/** The same again: what is retryable resumes. */
export const again: Steps = ({ argv, invocation }) => (invocation ? [commandLine(argv)] : []);

const orNetwork: Steps = (failed) => [...(again(failed) as readonly string[]), 'farelock doctor'];

/** The same search, as far as it is remembered what the offer or the intent was for. */
const searchAgain: Steps = async ({ session, invocation }) => {
  const { offerId, intentId } = (invocation?.options ?? {}) as { offerId?: unknown; intentId?: unknown };
  const { glanceAtIntents } = await import('../../client/glance.ts');
  const journey =
    typeof offerId === 'string'
      ? session?.recentOffers.journey(offerId)
      : session && glanceAtIntents(session.home).find((one) => one.intentId === intentId);
  const [from, to] = journey?.route?.split('-') ?? [];
  if (!journey?.departureDate || !from || !to) return ['farelock help search'];
  return [`farelock search ${quoted(from)} ${quoted(to)} --depart ${quoted(journey.departureDate)}`];
};

const usage: Steps = ({ invocation }) => [helpOf(invocation ? [invocation.name] : [])];

/** Where the keypair was named, the wallet is made there. */
const newWallet: Steps = ({ invocation }) => {
  const { keypair } = invocation?.globals ?? {};
  return [`farelock wallet new${keypair === undefined ? '' : ` --keypair ${quoted(keypair)}`}`];
};

const STEPS: Partial<Record<ProblemCode, Steps>> = {
  usage,
  input_required: usage,
  invalid_request: usage,
  passengers_invalid: usage,
  // Offers and intents
  offer_not_found: searchAgain,
  search_not_found: searchAgain,
  offer_unsupported: searchAgain,
  offer_unavailable: searchAgain,
  offer_expired: searchAgain,
  offer_repriced: searchAgain,
  lowcost_booking_unavailable: searchAgain,
  intent_expired: searchAgain,
  escrow_missing: searchAgain,
  booking_refunded: searchAgain,
  intent_not_found: always('farelock intent list'),
  intent_not_active: status,
  order_not_found: ({ invocation }) => [
    invocation?.name.startsWith('partner') ? 'farelock partner orders list' : 'farelock intent list',
  ],
  booking_already_requested: follow,
  still_booking: follow,
  booking_in_review: follow,
  use_automatic_refund: follow,
  already_refunded: status,
  refund_already_requested: status,
  escrow_mismatch: about('intent verify {intentId}'),
  affiliate_not_found: always('farelock affiliate create'),
  // Money
  no_wallet: newWallet,
  keypair_exists: always('farelock wallet show'),
  insufficient_funds: ({ session }) => [
    'farelock wallet balance',
    ...(session?.isEmbedded ? ['farelock wallet airdrop'] : []),
  ],
  payment_above_cap: always('farelock wallet limits'),
  daily_limit_reached: always('farelock wallet limits'),
  host_not_allowed: always('farelock wallet limits'),
  payment_declined: again,
  declined: again,
  challenge_refused: always('farelock config list --show-origin'),
  payment_unverified: always('farelock payments list'),
  payment_settlement_failed: always('farelock wallet balance'),
  // Worth retrying
  payment_pending: again,
  timed_out: again,
  interrupted: again,
  cluster_failed: again,
  not_ready: again,
  provider_failed: again,
  upstream_rate_limited: again,
  escrow_initialization_failed: again,
  partner_unavailable: again,
  network_unreachable: orNetwork,
  database_unavailable: orNetwork,
  unexpected_answer: orNetwork,
  internal_error: always('farelock doctor'),
  storage_full: always('farelock doctor'),
  storage_failed: always('farelock doctor'),
  storage_not_writable: always('farelock doctor'),
  storage_locked: again,
  storage_damaged: always('farelock doctor'),
  database_newer: always('farelock doctor'),
  database_of_another_home: always('farelock doctor'),
  native_missing: always('farelock doctor'),
  // Keys and people
  no_api_key: always('farelock config list --show-origin'),
  no_customer_token: always('farelock help keys token'),
  no_operator_key: always('farelock config list --show-origin'),
  operator_key_not_found: always('farelock keys list'),
  operator_key_last: always('farelock keys list'),
  partner_key_invalid: always('farelock keys partner list'),
  partner_key_not_found: always('farelock keys partner list'),
  partner_key_revoked: always('farelock keys partner list'),
  traveller_not_found: always('farelock travellers list'),
  // Desks
  refund_request_not_found: always('farelock refund queue'),
  case_already_claimed: refundCase,
  case_already_decided: refundCase,
  plan_changed: refundCase,
  stuck_not_found: always('farelock stuck list'),
  stuck_already_resolved: stuckCase,
  decision_not_possible: stuckCase,
  attestation_not_found: always('farelock attestations list'),
  invalid_status_transition: order,
  order_version_mismatch: order,
  transaction_id_fixed: order,
  compliance_required: always('farelock requirements list'),
  terms_changed: always('farelock requirements list'),
};

/** The same command for each of what a word of it may have meant: `detail.given` and `detail.meant` of the problem. */
function asMeant({ detail }: Problem, { argv }: Failed): string[] | null {
  const { given, meant } = detail ?? {};
  if (typeof given !== 'string' || !Array.isArray(meant)) return null;
  const at = argv.findIndex((word) => word === given || word.endsWith(`=${given}`));
  if (at < 0) return null;
  return meant.map((one) =>
    commandLine(argv.map((word, index) => (index === at ? word.replace(given, () => String(one)) : word))),
  );
}

/** Commands that help now, for a problem that names none itself, at least one; each is one that the tool understands. */
export async function nextStepsOf(error: Problem, failed: Failed): Promise<readonly string[]> {
  const steps = asMeant(error, failed) ?? (await STEPS[error.code]?.(failed)) ?? [];
  return steps.length > 0 ? steps : [`farelock explain ${error.code}`];
}
