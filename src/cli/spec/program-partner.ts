import type { Command as Commander } from 'commander';
import { ORDER_STATUSES } from '../../domain/order-statuses.ts';
import type { ApplyOptions } from '../commands/partner-apply/run.ts';
import type {
  CustomerTokenOptions,
  PartnerKeyIssueOptions,
  PartnerKeyOptions,
  PartnerKeyRotateOptions,
} from '../commands/partner-keys/run.ts';
import type { OffersOptions, OrderCreateOptions } from '../commands/partner-offers/run.ts';
import type { OrderShowOptions, OrdersListOptions } from '../commands/partner-orders/run.ts';
import type { PlatformOptions } from '../commands/partner-platform/run.ts';
import type { OrderUpdateOptions } from '../commands/partner-update/run.ts';
import type { OrderWatchOptions } from '../commands/partner-watch/run.ts';
import type {
  AcceptTermsOptions,
  RequirementAddOptions,
  RequirementsSubmitOptions,
} from '../commands/requirements/run.ts';
import type { PartnerIdentity } from '../session/partner-access.ts';
import type { Command } from './context.ts';
import { decimalOption, durationOption, integerOption, namedOption, overlapOption } from './options.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const RAMPS = ['ONRAMP', 'OFFRAMP'] as const;
const PARTNER_TYPES = ['INTEGRATION', 'REDIRECT'] as const;
const KEY_OF = 'act with the key file of this partner (or FARELOCK_API_KEY)';
const TOKEN_OF = 'make a token for this customer (or FARELOCK_CUSTOMER_TOKEN)';
const LIVE = 'yes, in the live environment';

const keys = () => import('../commands/partner-keys/run.ts');
const requirementCommands = () => import('../commands/requirements/run.ts');

/** What is bought or sold: the same of an offer and of an order. */
const exchange = (command: Commander): Commander =>
  command
    .requiredOption('--country <code>', 'of the customer, ISO 3166-1 alpha-3, such as BRA', capitals)
    .requiredOption('--ramp <direction>', RAMPS.join(', '), namedOption('--ramp', RAMPS))
    .requiredOption('--from <currency>', 'fiat for ONRAMP, crypto for OFFRAMP', capitals)
    .requiredOption('--to <currency>', 'crypto for ONRAMP, fiat for OFFRAMP', capitals)
    .requiredOption('--amount <decimal>', 'what the customer pays', decimalOption('--amount'))
    .requiredOption('--method <code>', 'payment method, such as BRA_PIX', capitals);

/** A name that the service checks: `id-document` is ID_DOCUMENT. */
const named = (value: string): string => capitals(value).replace(/[- ]/g, '_');
const capitals = (value: string): string => value.trim().toUpperCase();

/** `partner`: orders, offers and requirements, as a partner. */
export function addPartnerCommands(program: Commander, runs: Runs): void {
  const partner = program.command('partner').description('Ramp orders of a partner, offers, requirements');
  addOrderCommands(partner.command('orders').description('List, make, move and follow orders'), runs);
  exchange(partner.command('offers').description('Offers for an amount and a method, best first'))
    .option('--type <types>', PARTNER_TYPES.join(', '), (value: string) =>
      value.split(',').map(namedOption('--type', PARTNER_TYPES)),
    )
    .option('--partner <id>', KEY_OF)
    .action(
      runs<OffersOptions>(async () => (await import('../commands/partner-offers/run.ts')).partnerOffers),
    );
  partner
    .command('requirements')
    .description('Ask one customer for more than the policy does')
    .command('add <customer-id>')
    .description('Require data or an attestation')
    .option('--data <type>', 'EMAIL, ID_DOCUMENT, PROOF_OF_ADDRESS, …', named)
    .option('--attestation <type>', 'AML_CHECK, LIVENESS_CHECK, TERMS, …', named)
    .option('--max-age-days <n>', 'how old it may be', integerOption('--max-age-days', 1, 3_650))
    .option('--partner <id>', KEY_OF)
    .option('--live', LIVE)
    .action(runs<RequirementAddOptions>(async () => (await requirementCommands()).requirementAdd));
  partner
    .command('platform')
    .description('Serve the sandbox partner platform; FARELOCK_PARTNER_URL names the service that it updates')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port, 0 for any free one', integerOption('--port', 0, 65_535), 4030)
    .option('--partner <id>', 'whose key FARELOCK_API_KEY or --key-file is', 'par_sandbox_bank')
    .option('--key-file <file>', 'API key of that partner, in place of FARELOCK_API_KEY')
    .option('--secret-file <file>', 'secret of the signatures, in place of FARELOCK_WEBHOOK_SECRET')
    .action(
      runs<PlatformOptions>(
        async () => (await import('../commands/partner-platform/run.ts')).partnerPlatform,
      ),
    );
}

function addOrderCommands(orders: Commander, runs: Runs): void {
  const status = namedOption('--status', ORDER_STATUSES);
  orders
    .command('list')
    .description('Orders, newest first')
    .option('--status <status>', ORDER_STATUSES.join(', '), status)
    .option('--limit <n>', 'how many', integerOption('--limit', 1, 100_000), 50)
    .option('--page-token <token>', 'nextPageToken of the page before')
    .option('--partner <id>', KEY_OF)
    .action(
      runs<OrdersListOptions>(async () => (await import('../commands/partner-orders/run.ts')).ordersList),
    );
  orders
    .command('show <order-id>')
    .description('One order, and where it may go from here')
    .option('--history', 'every change of it')
    .option('--partner <id>', KEY_OF)
    .action(
      runs<OrderShowOptions>(async () => (await import('../commands/partner-orders/run.ts')).orderShow),
    );
  exchange(orders.command('create <partner-id>').description('Order for a customer with this partner'))
    .option('--network <network>', 'blockchain network', capitals)
    .option('--payment-details-data-id <id>', "the customer's payment details")
    .option('--wallet-data-id <id>', "the customer's wallet")
    .option('--wallet-address <address>', "the customer's wallet, for a redirect partner")
    .option('--customer <id>', TOKEN_OF)
    .option('--partner <id>', KEY_OF)
    .option('--idempotency-key <key>', 'the same key makes no second order')
    .option('--live', LIVE)
    .action(
      runs<OrderCreateOptions>(async () => (await import('../commands/partner-offers/run.ts')).orderCreate),
    );
  orders
    .command('update <order-id>')
    .description('Move an order on, or add to it; without a change, says what is allowed')
    .option('--status <status>', ORDER_STATUSES.join(', '), status)
    .option('--source-transaction-id <id>', 'how the funds came')
    .option('--destination-transaction-id <id>', 'how the payment went out')
    .option('--reason <text>', 'why; needed for ERROR')
    .option('--customer-facing-reason <text>', 'why, in words for the customer')
    .option('--to-amount <decimal>', 'what the customer receives', decimalOption('--to-amount'))
    .option('--deposit-instructions <file>', 'JSON file, - for standard input')
    .option('--return-reason <text>', 'why funds were returned')
    .option('--refund-reference-id <id>', 'the refund, in your books')
    .option('--if-match <version>', 'only if the order still has this version')
    .option('--idempotency-key <key>', 'the same key gives the first answer again')
    .option('--partner <id>', KEY_OF)
    .option('--live', LIVE)
    .action(
      runs<OrderUpdateOptions>(async () => (await import('../commands/partner-update/run.ts')).orderUpdate),
    );
  orders
    .command('apply <file>')
    .description('Update many orders from CSV or NDJSON, - for standard input; each row once')
    .option('--results <file>', 'a line for each row (<file>.results.ndjson)')
    .option('--concurrency <n>', 'orders at once', integerOption('--concurrency', 1, 64), 8)
    .option('--retry-failed', 'also the rows that were refused or held back')
    .option('--partner <id>', KEY_OF)
    .option('--live', LIVE)
    .action(runs<ApplyOptions>(async () => (await import('../commands/partner-apply/run.ts')).ordersApply));
  orders
    .command('watch <order-id>')
    .description('A line for each change until it ends; exit 8 unless the payment was processed')
    .option('--every <time>', 'between two looks', durationOption, 1000)
    .option('--partner <id>', KEY_OF)
    .action(
      runs<OrderWatchOptions>(async () => (await import('../commands/partner-watch/run.ts')).orderWatch),
    );
}

/** `requirements`: what a customer gives. */
export function addRequirementCommands(program: Commander, runs: Runs): void {
  const requirements = program
    .command('requirements')
    .description("A customer's requirements and compliance status");
  requirements
    .command('list', { isDefault: true })
    .description('What is required, and what was given; `requirements` for short')
    .option('--customer <id>', TOKEN_OF)
    .option('--partner <id>', KEY_OF)
    .action(runs<PartnerIdentity>(async () => (await requirementCommands()).requirementsList));
  requirements
    .command('submit <file>')
    .description('Give customer data: JSON, - for standard input; "@passport.jpg" names a file')
    .option('--customer <id>', TOKEN_OF)
    .option('--partner <id>', KEY_OF)
    .option('--live', LIVE)
    .action(runs<RequirementsSubmitOptions>(async () => (await requirementCommands()).requirementsSubmit));
  requirements
    .command('accept-terms')
    .description('Show the terms that are asked for, and accept them')
    .option('--terms-url <url>', 'these, which were read before; asks nothing')
    .option('--customer <id>', TOKEN_OF)
    .option('--partner <id>', KEY_OF)
    .action(runs<AcceptTermsOptions>(async () => (await requirementCommands()).requirementsAcceptTerms));
}

/** `keys partner` and `keys token`: who may call the partner service. */
export function addPartnerKeyCommands(parent: Commander, runs: Runs): void {
  const partner = parent.command('partner').description('API keys of partners');
  partner
    .command('list')
    .description('Names, and when each was last used')
    .action(runs<object>(async () => (await keys()).partnerKeysList));
  partner
    .command('issue <partner-id> <name>')
    .description('Issue a key to a partner; it is shown once')
    .action(runs<PartnerKeyIssueOptions>(async () => (await keys()).partnerKeysIssue));
  partner
    .command('revoke <key-id>')
    .description('Make a key worthless')
    .action(runs<PartnerKeyOptions>(async () => (await keys()).partnerKeysRevoke));
  partner
    .command('rotate <key-id>')
    .description('A new key in its place; the old one goes on for a while')
    .option('--overlap <time>', 'how long the old one works, 0 to 720h (24h)', overlapOption, 86_400_000)
    .action(runs<PartnerKeyRotateOptions>(async () => (await keys()).partnerKeysRotate));
  parent
    .command('token <customer-id>')
    .description('A short-lived token for one customer; it is shown once')
    .option('--ttl <time>', 'how long it works, 1m to 24h (15m)', durationOption)
    .action(runs<CustomerTokenOptions>(async () => (await keys()).customerTokenIssue));
}
