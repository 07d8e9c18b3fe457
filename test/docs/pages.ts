import { EXIT_CODES } from '../../src/cli/commands/explain/run.ts';
import { METRICS } from '../../src/cli/commands/serve/metrics-table.ts';
import { SETTINGS, type Setting } from '../../src/cli/settings/table.ts';
import type { CommandDescription, ParameterDescription, ToolDescription } from '../../src/cli/spec/description.ts';
import { defaultOptions } from '../../src/flights/base/ports.ts';
import { deskRoutes as flightDesk } from '../../src/flights/desk/routes.ts';
import { flightRoutes } from '../../src/flights/routes.ts';
import type { Route, RouteTable } from '../../src/http/routes.ts';
import { atomic, formatUsdc } from '../../src/kernel/money.ts';
import { fixOf, PROBLEMS, type ProblemKind } from '../../src/kernel/problems.ts';
import { deskRoutes as partnerDesk } from '../../src/partner/desk/routes.ts';
import { procedureRoutes } from '../../src/partner/routes.ts';
import { capital } from '../../src/terminal/index.ts';

/** The pages of docs/ that are made from the tool itself. */

const MADE = '<!-- Made by `npm run docs`. Change the source, not this page. -->';

export const EFFECTS = {
  reads: 'reads: nothing is changed, nothing is paid',
  pays: 'pays: a payment is signed, within your limits',
  changes: 'changes: a service keeps something new',
  local: "local: changes only this machine's own files",
  runs: 'runs: a server, a demonstration, a conversation or a deployment',
} as const;

const row = (...cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
const table = (heads: readonly string[], rows: readonly (readonly string[])[]) => [
  row(...heads),
  `|${'---|'.repeat(heads.length)}`,
  ...rows.map((cells) => row(...cells)),
];

const anchorOf = (name: string) => name.replaceAll(' ', '-');

export function synopsis({ name, arguments: given }: CommandDescription): string {
  const words = given.map((one) => {
    const text = `${one.name}${one.repeated ? '…' : ''}`;
    return one.required ? `<${text}>` : `[${text}]`;
  });
  return ['farelock', name, ...words].join(' ');
}

export function takes({ value, repeated, value_optional, ...one }: ParameterDescription): string {
  if (value === null) return '';
  const { minimum, maximum } = value;
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `from ${minimum}`
        : '';
  return [
    value.enum ? value.enum.map((choice) => `\`${choice}\``).join(', ') : `${value.type} ${range}`.trim(),
    ...(repeated ? ['several times'] : []),
    ...(value_optional ? ['may be left out'] : []),
    ...(one.default === undefined || one.default === false ? [] : [`\`${one.default}\` unless given`]),
    ...(one.required ? ['**required**'] : []),
  ].join('; ');
}

const optionName = ({ name, short }: ParameterDescription) => `\`${name}\`${short ? `, \`${short}\`` : ''}`;

const parameters = (given: readonly ParameterDescription[], named: (one: ParameterDescription) => string) =>
  given.map((one) => [named(one), takes(one), one.description]);

function commandSection(command: CommandDescription): string[] {
  const rows = [
    ...parameters(command.arguments, ({ name }) => `\`<${name}>\``),
    ...parameters(command.options, optionName),
  ];
  return [
    `## ${command.name}`,
    '',
    `    ${synopsis(command)}`,
    '',
    `${command.description}. ${capital(EFFECTS[command.effect])}.`,
    '',
    ...(rows.length > 0 ? [...table(['', 'Takes', ''], rows), ''] : []),
  ];
}

/** docs/commands.md */
export function commandsPage(tool: ToolDescription): string {
  return [
    '# Commands',
    '',
    MADE,
    '',
    '`farelock help <command>` shows the same with examples, and `farelock help --json` as data. What a command does to the',
    'world is one of:',
    '',
    ...Object.values(EFFECTS).map((effect) => `- ${effect}`),
    '',
    ...table(
      ['Command', 'What it does', ''],
      tool.commands.map((command) => [
        `[\`${command.name}\`](#${anchorOf(command.name)})`,
        command.description,
        command.effect,
      ]),
    ),
    '',
    'Exit codes and error codes are in [errors.md](errors.md).',
    '',
    '## Global options',
    '',
    ...table(['', 'Takes', ''], parameters(tool.global_options, optionName)),
    '',
    ...tool.commands.flatMap(commandSection),
  ].join('\n');
}

/** docs/errors.md */
export function errorsPage(): string {
  const problems = Object.entries<ProblemKind>(PROBLEMS).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '# Exit codes and errors',
    '',
    MADE,
    '',
    'A failed command says what failed, why, and what to do next. With `--json` it prints',
    '`{ "error": { code, message, fix, retryable, next } }` on stdout. `farelock explain <code>` prints an entry of this page.',
    'A service answers with `{ "code", "message", "detail"? }`. Codes are kept for good; messages are for people, and change.',
    '',
    '## Exit codes',
    '',
    ...table(
      ['Code', 'Meaning'],
      Object.entries(EXIT_CODES).map(([code, meaning]) => [code, meaning]),
    ),
    '',
    '## Errors',
    '',
    ...table(
      ['Code', 'HTTP', 'Exit', 'Try again'],
      problems.map(([code, kind]) => [
        `[\`${code}\`](#${code})`,
        kind.status === undefined ? '' : String(kind.status),
        String(kind.exit),
        kind.retryable ? 'yes' : '',
      ]),
    ),
    '',
    ...problems.flatMap(([code, kind]) => [
      `### ${code}`,
      '',
      kind.message,
      fixOf(kind),
      '',
      [
        ...(kind.status === undefined ? [] : [`HTTP ${kind.status}.`]),
        `Exit code ${kind.exit}: ${EXIT_CODES[kind.exit]}.`,
        kind.retryable ? 'The same command may work a moment later.' : 'Something must change first.',
      ].join(' '),
      '',
    ]),
  ].join('\n');
}

const NEEDS: Readonly<Record<string, string>> = {
  x402: 'a payment',
  sponsoredPreview: "a gateway's signature",
  supportCode: 'the support code',
  familyName: "the lead passenger's family name",
  operatorKey: 'an operator key',
  apiKey: 'an API key',
  customerToken: "a customer's token",
};

function needsOf<C, O>(table: RouteTable<C, O>, route: Route<C, O>): string {
  const ways = route.security ?? table.security ?? (route.price ? [['x402']] : []);
  return ways.map((way) => way.map((scheme) => NEEDS[scheme] ?? scheme).join(', ') || 'nothing').join('; or ');
}

function priceOf<O>({ price }: Pick<Route<never, O>, 'price'>, options: O): string {
  const amount = price?.(options);
  if (amount === undefined) return '';
  return (typeof amount === 'bigint' ? [amount] : amount).map((one) => formatUsdc(atomic(one))).join(' to ');
}

const calls = <C, O>(served: RouteTable<C, O>, options: O): string[] =>
  table(
    ['Call', 'What it does', 'Needs', 'USDC', 'Refusals of its own'],
    served.routes.map((route) => [
      `${route.method} \`${route.path}\``,
      typeof route.summary === 'string' ? route.summary : route.summary(options),
      needsOf(served, route),
      priceOf(route, options),
      (route.codes ?? []).map((code) => `[\`${code}\`](errors.md#${code})`).join(', '),
    ]),
  );

export function callsPage(): string {
  return [
    '# Every call of the services',
    '',
    MADE,
    '',
    '`/openapi.json` and `/partner/openapi.json` describe the same, with every schema. Any call can also be refused for what',
    'its body, its query, its payment or the database is: see [errors.md](errors.md).',
    '',
    'A payment is one of x402 or of MPP, by the tool or by any other client: [paying.md](paying.md) has the lines of both. The',
    'stock clients of x402 pay at most 1 USD for a call, and so refuse every fare, until `setSpendControls(false)` or',
    "`setSpendControls({ maxAmountPerPayment: '$500' })` of `@x402/core` allows them more.",
    '',
    'Agents buy most of the flight service over MCP at `/mcp` of `serve`: see [agents.md](agents.md#without-the-tool).',
    '',
    '## Flights',
    '',
    ...calls(flightRoutes, defaultOptions),
    '',
    "## The flight service's desk",
    '',
    ...calls(flightDesk, undefined),
    '',
    '## Partners',
    '',
    ...calls(procedureRoutes('farelock'), undefined),
    '',
    "## The partner service's desk",
    '',
    ...calls(partnerDesk, undefined),
    '',
  ].join('\n');
}

const PARTS = {
  profile: 'A profile: the addresses of its services, its wallet and keys (in `config.json` too)',
  cluster: 'A cluster (in `config.json` too; profile `local` takes the two about programs alone)',
  limits: 'Limits (in `config.json` too)',
  client: 'The tool',
  service: 'The services, embedded and under `serve`',
  partner: 'The partner service',
  airline: 'The airlines of `serve`',
  notify: 'Pages and mails of the services',
  sandbox: 'The sandbox',
};

const code = (text: string | null | undefined) => (text ? `\`${text}\`` : '');

const settingRow = ([name, { env, file, flag, read, says, usual, example }]: [string, Setting]) => [
  code(name),
  [env, ...(env && file ? [`${env}_FILE`] : [])].map(code).join(', '),
  code(flag),
  says,
  read.wanted,
  usual ? `${code(usual)} unless set` : code(example),
];

/** The settings in docs/settings.md: everything between its two markers. */
export function settingsPage(page: string): string {
  const made = Object.entries(PARTS).flatMap(([part, title]) => [
    `### ${title}`,
    '',
    ...table(
      ['Setting', 'Variable', 'Option', 'What it is', 'Value', ''],
      Object.entries<Setting>(SETTINGS)
        .filter(([, { of }]) => of === part)
        .map(settingRow),
    ),
    '',
  ]);
  return page.replace(
    /(<!-- settings: [^\n]*\n)[\s\S]*(<!-- \/settings -->)/,
    (_page, begin: string, end: string) => `${begin}\n${[...made, end].join('\n')}`,
  );
}

/** The metrics in docs/operations.md: everything between its two markers. */
export function operationsPage(page: string): string {
  const rows = Object.entries(METRICS).map(([name, { type, labels, says }]) => [
    code(name),
    type,
    labels.map(code).join(', '),
    says,
  ]);
  return page.replace(
    /(<!-- metrics: [^\n]*\n)[\s\S]*(<!-- \/metrics -->)/,
    (_page, begin: string, end: string) =>
      `${begin}\n${[...table(['Metric', 'Type', 'Labels', 'What it is'], rows), '', end].join('\n')}`,
  );
}
