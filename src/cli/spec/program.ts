import { Command as Commander } from 'commander';
import type { AffiliateCreateOptions, AffiliateShowOptions } from '../commands/affiliate/run.ts';
import type { BookOptions } from '../commands/book/run.ts';
import type { DoctorOptions } from '../commands/doctor/run.ts';
import type { ExplainOptions } from '../commands/explain/run.ts';
import type { HelpOptions } from '../commands/help/run.ts';
import type { IntentCreateOptions } from '../commands/intent-create/run.ts';
import type { IntentIdOptions } from '../commands/intent-show/run.ts';
import type { IntentVerifyOptions } from '../commands/intent-verify/run.ts';
import type { McpOptions } from '../commands/mcp/run.ts';
import type { OrderOptions } from '../commands/order/run.ts';
import type { PaymentsListOptions, PaymentsShowOptions } from '../commands/payments/run.ts';
import type { ServeOptions } from '../commands/serve/run.ts';
import type { StatusOptions } from '../commands/status/run.ts';
import type { AirdropOptions } from '../commands/wallet-airdrop/run.ts';
import type { WalletShowOptions } from '../commands/wallet-show/run.ts';
import type { Command, CommandContext, ExitCode, GlobalOptions } from './context.ts';
import { EXAMPLES, FIRST_EXAMPLES } from './manual.ts';
import { addressOption, collected, durationOption, integerOption, solOption, usdcOption } from './options.ts';
import { addDeskCommands, addKeyCommands, addRefundCommands } from './program-desk.ts';
import { addOfferCommand, addSearchCommand } from './program-looking.ts';
import { addPartnerCommands, addRequirementCommands } from './program-partner.ts';
import { addAirportCommand, addScriptCommands } from './program-scripts.ts';
import { addConfigCommands, addLimitCommands, addPaymentChecks } from './program-settings.ts';
import { addTravellerCommands } from './program-travellers.ts';

/** A command line that was understood: what to run, and with what. */
export interface Invocation {
  /** `search`, `intent create`, … */
  readonly name: string;
  readonly options: object;
  readonly globals: GlobalOptions;
  run(context: CommandContext): Promise<ExitCode>;
}

export interface ProgramOutput {
  write(text: string): void;
  readonly width: number;
}

/** The table of contents of the tool: every command, option and example. Nothing of a command is loaded here. */
export function buildProgram(
  version: string,
  output: ProgramOutput,
  start: (invocation: Invocation) => void,
): Commander {
  const program = new Commander('farelock')
    .description('Search flights, lock a fare in a Solana escrow, book it and follow it.')
    .version(version, '-V, --version', 'Print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(text),
      // Usage errors are printed with every other problem, in one place.
      writeErr: () => undefined,
      getOutHelpWidth: () => output.width,
    })
    .configureHelp({ showGlobalOptions: true })
    .helpOption('-h, --help', 'Print help')
    .helpCommand(false)
    .optionsGroup('Options everywhere:')
    .option('--profile <name>', 'where to run: local (embedded), or a profile of the settings')
    .option('--keypair <path>', 'keypair file of the wallet, - for standard input')
    .option('--json [fields]', 'one JSON document on stdout; fields, separated by commas, choose from it')
    .option('-y, --yes', 'answer questions with yes')
    .option('--no-input', 'never ask')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--max-payment <usdc>', 'pay no more than this for a call', usdcOption('--max-payment'))
    .option('--timeout <time>', 'give up after 90s, 5m, …', durationOption)
    .option('-q, --quiet', 'only the result')
    .option('-v, --verbose', 'more on stderr')
    .option('--no-color', 'no colour')
    .option('--no-pager', 'print long results as they are');

  const runs = <O extends object>(load: () => Promise<Command<O>>) =>
    function (this: Commander, ...given: unknown[]): void {
      const positional = this.registeredArguments.map((argument, index) => [
        camelCase(argument.name()),
        given[index],
      ]);
      const options = { ...Object.fromEntries(positional), ...this.opts<O>() } as O;
      start({
        name: pathOf(this),
        options,
        globals: program.opts<GlobalOptions>(),
        run: async (context) => (await load())(context, options),
      });
    };

  program.commandsGroup('Fly:');
  addSearchCommand(program, runs);
  addAirportCommand(program, runs);
  addOfferCommand(program, runs);

  const intent = program.command('intent').description('Lock an offer into a booking intent with its escrow');
  intent
    .command('create <offer-id>', { isDefault: true })
    .description('Lock an offer and open its escrow (paid, 0.10 USDC); `intent <offer-id>` for short')
    .option(
      '--refund-wallet <address>',
      'where refunds go (the paying wallet)',
      addressOption('--refund-wallet'),
    )
    .option('--referrer <code>', 'affiliate code')
    .action(
      runs<IntentCreateOptions>(async () => (await import('../commands/intent-create/run.ts')).intentCreate),
    );
  intent
    .command('show <intent-id>')
    .description('The intent as the service has it')
    .action(runs<IntentIdOptions>(async () => (await import('../commands/intent-show/run.ts')).intentShow));
  intent
    .command('list')
    .description('The intents made from here')
    .action(runs<object>(async () => (await import('../commands/intent-list/run.ts')).intentList));
  intent
    .command('verify <intent-id>')
    .description('Check the escrow on chain against the intent, and that its refunds come to you')
    .option(
      '--refund-wallet <address>',
      'a refund wallet that is not yours, named on purpose',
      addressOption('--refund-wallet'),
    )
    .action(
      runs<IntentVerifyOptions>(async () => (await import('../commands/intent-verify/run.ts')).intentVerify),
    );

  program
    .command('book <intent-id>')
    .description('Pay the escrow and book; waits until it is booked or refunded')
    .option('--passengers <file>', 'JSON file with the passengers, - for standard input')
    .option('--traveller <name>', 'a saved traveller; once for each, who gets the e-mails first', collected)
    .option(
      '--refund-wallet <address>',
      'pay although refunds go to this wallet, which is not yours',
      addressOption('--refund-wallet'),
    )
    .option('--no-wait', 'return once the booking is queued')
    .action(runs<BookOptions>(async () => (await import('../commands/book/run.ts')).book));
  program
    .command('status <intent-id>')
    .description('Where the money is: funded, ticketing, captured or refunded')
    .option('--watch', 'follow it until it ends; with --json a line for each change')
    .action(runs<StatusOptions>(async () => (await import('../commands/status/run.ts')).status));
  program
    .command('order <id>')
    .description('The airline order of an order id or an intent id (paid, 0.01 USDC)')
    .option('--ics <file>', 'write the journey as a calendar file, - for standard output')
    .action(runs<OrderOptions>(async () => (await import('../commands/order/run.ts')).order));

  addRefundCommands(program, runs);
  addTravellerCommands(program, runs);

  program.commandsGroup('Money:');
  const wallet = program.command('wallet').description('The wallet that pays');
  wallet
    .command('new')
    .description('Make a keypair file')
    .action(runs<object>(async () => (await import('../commands/wallet-new/run.ts')).walletNew));
  wallet
    .command('show')
    .description('Address, file and network')
    .option('--qr [usdc]', 'as a QR code: the address, or a request to pay so much', usdcOption('--qr'))
    .action(runs<WalletShowOptions>(async () => (await import('../commands/wallet-show/run.ts')).walletShow));
  wallet
    .command('balance')
    .description('SOL and USDC on the cluster')
    .action(runs<object>(async () => (await import('../commands/wallet-balance/run.ts')).walletBalance));
  wallet
    .command('airdrop')
    .description('Play money from the faucet of the embedded cluster')
    .option('--sol <amount>', 'SOL (1 when neither is named)', solOption('--sol'))
    .option('--usdc <amount>', 'USDC (1000 when neither is named)', usdcOption('--usdc'))
    .action(
      runs<AirdropOptions>(async () => (await import('../commands/wallet-airdrop/run.ts')).walletAirdrop),
    );

  addLimitCommands(wallet, runs);

  const payments = program.command('payments').description('The journal of what was paid');
  payments
    .command('list')
    .description('Payments made from here, newest first')
    .option('--limit <n>', 'how many', integerOption('--limit', 1, 1_000_000), 100)
    .action(
      runs<PaymentsListOptions>(async () => (await import('../commands/payments/run.ts')).paymentsList),
    );
  payments
    .command('show <payment-id>')
    .description('One payment')
    .action(
      runs<PaymentsShowOptions>(async () => (await import('../commands/payments/run.ts')).paymentsShow),
    );
  addPaymentChecks(payments, runs);

  const affiliate = program.command('affiliate').description('Codes that earn a share of the platform fee');
  affiliate
    .command('create')
    .description('The code of a wallet: a new one, or the one that it has (free)')
    .option('--wallet <address>', 'the wallet that is paid (the one of this profile)')
    .action(
      runs<AffiliateCreateOptions>(
        async () => (await import('../commands/affiliate/run.ts')).affiliateCreate,
      ),
    );
  affiliate
    .command('show <code>')
    .description('What a code has earned: pending and paid (free)')
    .action(
      runs<AffiliateShowOptions>(async () => (await import('../commands/affiliate/run.ts')).affiliateShow),
    );

  program.commandsGroup('Ramp:');
  addPartnerCommands(program, runs);
  addRequirementCommands(program, runs);

  program.commandsGroup('Run and learn:');
  addConfigCommands(program, runs);
  addDeskCommands(program, runs);
  addKeyCommands(program, runs);
  program
    .command('guided')
    .description('Search, choose and book step by step; `farelock` alone on a terminal')
    .action(runs<object>(async () => (await import('../commands/guided/run.ts')).guided));
  program
    .command('demo')
    .description('The whole journey with narration, on the embedded stack')
    .action(runs<object>(async () => (await import('../commands/demo/run.ts')).demo));
  program
    .command('serve')
    .description('Serve the flight and the partner service, and the embedded cluster at /rpc')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port, 0 for any free one', integerOption('--port', 0, 65_535), 4020)
    .option('--database-url <url>', 'PostgreSQL instead of the file; with a password: FARELOCK_DATABASE_URL')
    .option(
      '--rpc-url <url>',
      "another Farelock's cluster in place of the embedded one (or FARELOCK_RPC_URL)",
    )
    .option('--facilitator-url <url>', 'an x402 facilitator to settle payments (or FARELOCK_FACILITATOR_URL)')
    .option(
      '--trusted-proxy <address>',
      'believe its X-Forwarded-For, -Proto and -Host; an address or range, once for each',
      collected,
    )
    .option('--public-url <url>', 'the address that customers use, behind a proxy (or FARELOCK_PUBLIC_URL)')
    .option('--scenario <name>', 'make the sandbox airline misbehave on purpose')
    .option('--live', 'the partner service takes live keys, and no demo keys (or FARELOCK_ENVIRONMENT=live)')
    .action(runs<ServeOptions>(async () => (await import('../commands/serve/run.ts')).serve));
  program
    .command('doctor')
    .description('Look at everything that commands stand on, and say what to do; exit 8 when something fails')
    .option('--full', 'read the databases to their last page, also large ones; it can take minutes')
    .action(runs<DoctorOptions>(async () => (await import('../commands/doctor/run.ts')).doctor));
  program
    .command('explain <code>')
    .description('What an error code means, and what to do')
    .action(runs<ExplainOptions>(async () => (await import('../commands/explain/run.ts')).explain));

  addScriptCommands(program, runs);
  program
    .command('mcp')
    .description('The commands as tools of the Model Context Protocol; reads only, unless more is allowed')
    .option(
      '--allow-spending <usdc>',
      'for all payments together; --max-payment caps each',
      usdcOption('--allow-spending'),
    )
    .option('--allow-changes', 'also what changes orders, refunds and keys')
    .action(runs<McpOptions>(async () => (await import('../commands/mcp/run.ts')).mcp));
  program
    .command('help')
    .argument('[command...]')
    .description('Help on a command; with --json the whole command tree')
    .action(runs<HelpOptions>(async () => (await import('../commands/help/run.ts')).help));

  showExamples(program);
  return program.addHelpText('after', examples(FIRST_EXAMPLES));
}

function showExamples(command: Commander): void {
  for (const child of command.commands) {
    const shown = EXAMPLES[pathOf(child)];
    if (shown) child.addHelpText('after', examples(shown));
    showExamples(child);
  }
}

const examples = (lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;

const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

export function pathOf(command: Commander): string {
  const names: string[] = [];
  for (let at: Commander | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}
