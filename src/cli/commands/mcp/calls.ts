import type { CallToolRequest, CallToolResult, InputRequiredResult, RequestId } from '@modelcontextprotocol/server';
import { version } from '../../../../package.json';
import type { Allowance } from '../../../client/base/index.ts';
import { parseUsdc } from '../../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../../kernel/problems.ts';
import type { NextStep } from '../../../kernel/shell-word.ts';
import { isRecord } from '../../../terminal/index.ts';
import { type CommandContext, type CommandDescription, describeTool, type OptionsOf } from '../../spec/index.ts';
import { runTool } from '../../tool/index.ts';
import { problemDocument } from '../../view/index.ts';
import { createAllowance, notAllowed, type ServerAllowance } from './allowance.ts';
import { bounded, type Document, outputSchemaOf, pageThatFits, withheld, withPassengerFields } from './answers.ts';
import { askingOf, type Caller, Question } from './asking.ts';
import { openKept } from './kept.ts';
import { openProgress } from './progress.ts';
import type * as spec from './spec.ts';
import {
  type CommandLine,
  commandLineOf,
  isInSets,
  nextStepsFor,
  OLD_TOOLS,
  type ToolSet,
  toolCommands,
  toolName,
  toolOf,
  wordsFor,
} from './tools.ts';

export type McpOptions = OptionsOf<typeof spec.mcp>;

type Ran = Awaited<ReturnType<typeof runInside>>;

type Run = (approval: readonly string[], allowance?: Allowance) => Promise<Ran>;

export type Calls = ReturnType<typeof openCalls>;

interface Outside {
  /** Aborted when the client is gone, or a person stops the server. */
  readonly ended: AbortSignal;
  readonly expect: (requestId: RequestId, paymentIds: readonly string[]) => void;
}

/** The tools that a client may list, their calls, and what they keep while the server runs. */
export function openCalls(context: CommandContext, options: McpOptions, outside: Outside) {
  const described = describeTool(context.tool, version);
  const commands = new Map(toolCommands(described).map((command) => [toolName(command), command]));
  const sets: readonly ToolSet[] = options.tools ?? ['travel'];
  const isDryRun = context.globals.dryRun === true;
  const allowance = createAllowance({
    total: options.allowSpending ?? null,
    perPayment: context.globals.maxPayment ?? null,
  });
  const listed = [...commands.values()].filter(
    (command) => isInSets(command, sets) && (isDryRun || notPermitted(options, command) === null),
  );
  const callable = new Set(listed.map(({ name }) => name));
  const running = new Set<Promise<unknown>>();
  const kept = openKept(context.clock);

  const found = (name: string): CommandDescription => {
    const command = commands.get(name);
    if (!command) {
      const fix = `There are ${listed.map(toolName).join(', ')}.`;
      throw problem('usage', { message: `There is no tool "${name}".`, fix });
    }
    if (isInSets(command, sets)) return command;
    const permissions = permissionsFor(options, command);
    const wanted = [...sets, wordsFor(command).sets[0]].join(',');
    throw problem('usage', {
      message: `${name} is not among the tools of this server.`,
      fix: `A person has to start it with: farelock mcp --tools ${wanted}${permissions.join('')}`,
    });
  };
  const withSteps = (command: CommandDescription, document: Document, next: readonly NextStep[]): Document => {
    const { error } = document;
    if (!isRecord(error)) return document;
    const steps = nextStepsFor(command, next, { described, spec: context.tool, callable });
    return { ...document, error: { ...error, ...steps } };
  };
  const called = async (
    command: CommandDescription,
    given: Document,
    caller: Caller,
    phase: (text: string) => void,
  ) => {
    const { signal, id: requestId } = caller.client.mcpReq;
    const run = (line: CommandLine): Promise<Ran> => {
      const within: Run = (approval, money = allowance) =>
        runInside(context, approval, line, {
          allowance: money,
          cancelled: signal,
          phase,
          answered: (paymentIds) => outside.expect(requestId, paymentIds),
        });
      const ask = askingOf(caller, command, line.argv, AbortSignal.any([signal, outside.ended]));
      const call = permitted({ ...options, isDryRun }, allowance, command, line, within, ask);
      running.add(call);
      return call.finally(() => running.delete(call));
    };
    const line = commandLineOf(command, given);
    if (command.name === 'search' && line.page.offset > 0)
      return { line, ran: { document: kept.search(keyOfSearch(line)), said: '', exitCode: 0, next: [] } };
    const ran = await pageThatFits(line.page, await run(line), (fewer) =>
      run(commandLineOf(command, { ...given, limit: fewer })),
    );
    return { line, ran };
  };

  return {
    listed: () => listed.map((command) => toolOf(command, options.outputSchemas)),
    running,
    kept,
    read: async (argv: readonly string[], cancelled: AbortSignal): Promise<Document> => {
      const nothing = () => undefined;
      const given = { allowance, cancelled, phase: nothing, answered: nothing };
      return (await runInside(context, [], { argv, stdin: '' }, given)).document ?? {};
    },
    async call(params: CallToolRequest['params'], caller: Caller): Promise<CallToolResult | InputRequiredResult> {
      const [name, more] = OLD_TOOLS[params.name] ?? [params.name, {}];
      const given: Document = { ...params.arguments, ...more };
      const progress = openProgress(caller.client.mcpReq);
      try {
        const command = found(name);
        const short = command.name === 'schema' ? schemaNamed(given.command, commands) : null;
        if (short) return answer({ said: '', exitCode: 0 }, short);
        const { line, ran } = await called(command, given, caller, progress.phase);
        const { document } = ran;
        if (!document) return answer(ran, null);
        const isNew = command.name === 'search' && line.page.offset === 0;
        if (!('error' in document)) kept.keep(isNew ? keyOfSearch(line) : null, document);
        const shown = bounded(command, withPassengerFields(command, document), line.page);
        return answer(ran, withSteps(command, shown, ran.next));
      } catch (error) {
        if (isProblem(error)) return refusal(error);
        if (error instanceof Question) return error.asked;
        throw error;
      } finally {
        progress.stop();
      }
    },
  };
}

const keyOfSearch = ({ argv }: CommandLine): string => argv.join('\0');

/** The output schema of a tool by its name, such as `intent_create`; null if there is no such tool. */
function schemaNamed(given: unknown, commands: ReadonlyMap<string, CommandDescription>): Document | null {
  const name = (Array.isArray(given) ? given.join('_') : String(given)).replace(/[ -]/g, '_');
  const command = commands.get(name);
  if (!command) return null;
  const id = `urn:farelock:schema:${command.name.replaceAll(' ', '-')}`;
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: id, title: name, ...outputSchemaOf(command) };
}

/** The refusal of a command that the person did not allow at the start; null if it may run. */
function notPermitted({ allowSpending, allowChanges }: McpOptions, command: CommandDescription): Problem | null {
  if (command.effect === 'changes' && !allowChanges) {
    return problem('changes_not_allowed', {
      message: `${toolName(command)} changes data in a service, and the server was started read-only.`,
    });
  }
  return isPaying(command) && allowSpending === undefined ? notAllowed() : null;
}

const permissionsFor = ({ allowSpending, allowChanges }: McpOptions, command: CommandDescription): string[] => [
  ...(isPaying(command) && allowSpending === undefined ? [' --allow-spending <usdc>'] : []),
  ...(command.effect === 'changes' && !allowChanges ? [' --allow-changes'] : []),
];

const isPaying = ({ name, effect }: CommandDescription): boolean => effect === 'pays' || name in AMOUNTS;

/**
 * Runs a call as far as the person who started the server allowed. --yes agrees to payments within the allowance and
 * the limits of the profile, and to nothing above them.
 * @param ask asks a person for one payment above the allowance; null if the client cannot ask
 * @throws Problem `payment_above_cap`, `changes_not_allowed`
 */
async function permitted(
  options: McpOptions & { readonly isDryRun: boolean },
  allowance: ServerAllowance,
  command: CommandDescription,
  line: CommandLine,
  run: Run,
  ask: ReturnType<typeof askingOf>,
): Promise<Ran> {
  if (line.isDryRun || command.effect === 'reads') return run([]);
  // `farelock --dry-run mcp`: nothing is done, whatever else is allowed.
  if (options.isDryRun) return run(['--dry-run']);
  const refused = notPermitted(options, command);
  if (refused) throw refused;
  if (!(command.name in AMOUNTS)) {
    const ran = await run(['--yes']);
    const amount = aboveAllowance(ran.document);
    if (amount === null || !ask) return ran;
    const one = allowance.withOne(amount);
    // Tries the call as if that payment were allowed: a person is not asked if something else would refuse it.
    const { document: plan } = await run(['--yes', '--dry-run'], one);
    if (!plan || !wouldPay(plan, amount)) return ran;
    return (await ask({ amount, plan })) ? run(['--yes'], one) : ran;
  }
  const plan = await run(['--dry-run']);
  const amount = amountMoved(plan.document);
  // The plan was refused, as the call would be.
  if (amount === null || !plan.document) return plan;
  const one = allowance.withOne(amount);
  const mayAsk = allowance.refusal(amount) !== null && one.refusal(amount) === null;
  const isAgreed = mayAsk && (await ask?.({ amount, plan: plan.document })) === true;
  const reserved = (isAgreed ? one : allowance).reserve(amount);
  // However the call ends, the money may have been paid out.
  reserved.spend(line.argv.join(' '));
  return run(['--yes']);
}

/** The amount, atomic USDC, of a call that was refused because the allowance has less left; else null. */
function aboveAllowance(document: Document | null): bigint | null {
  const { error } = document ?? {};
  if (!isRecord(error) || error.code !== 'payment_above_cap' || !isRecord(error.detail)) return null;
  const { amount, left, per_payment } = error.detail;
  return typeof amount === 'string' && left !== undefined && per_payment === undefined ? parseUsdc(amount) : null;
}

function wouldPay({ payment }: Document, amount: bigint): boolean {
  if (!isRecord(payment) || payment.amount_atomic !== Number(amount)) return false;
  return payment.decision === 'sign' || payment.decision === 'resend';
}

/** Runs a command line of this tool, as a script would, and returns its one document. */
async function runInside(
  { tool, environment, globals, clock, folder, signal }: CommandContext,
  approval: readonly string[],
  { argv, stdin }: { readonly argv: readonly string[]; readonly stdin: string },
  given: {
    readonly allowance: Allowance;
    readonly cancelled: AbortSignal;
    readonly phase: (text: string) => void;
    readonly answered: (paymentIds: readonly string[]) => void;
  },
) {
  const out = { stdout: '', stderr: '' };
  const output = (name: keyof typeof out) => ({
    isTTY: false,
    columns: null,
    write: (text: string) => {
      out[name] += text;
    },
  });
  const place = [
    ...(globals.profile === undefined ? [] : [`--profile=${globals.profile}`]),
    ...(globals.keypair === undefined ? [] : [`--keypair=${globals.keypair}`]),
  ];
  let next: readonly NextStep[] = [];
  const exitCode = await runTool(['--json=', '--no-input', ...approval, ...place, ...argv], {
    tool,
    version,
    environment,
    streams: {
      stdout: output('stdout'),
      stderr: output('stderr'),
      stdin: { isTTY: false, text: async () => stdin },
      place: `mcp${process.pid}`,
      phase: given.phase,
    },
    failed: (steps) => {
      next = steps;
    },
    clock,
    folder,
    allowance: given.allowance,
    answered: given.answered,
    interrupted: AbortSignal.any([signal, given.cancelled]),
    prompts: () => {
      throw problem('input_required');
    },
  });
  return { document: parsed(out.stdout), said: out.stderr.trim(), exitCode, next };
}

const parsed = (text: string): Document | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? withheld(value) : null;
  } catch {
    return null;
  }
};

/** Repeats the document as text, for clients that do not know structured content. */
const answer = ({ said, exitCode }: Pick<Ran, 'said' | 'exitCode'>, document: Document | null): CallToolResult => ({
  content: [{ type: 'text' as const, text: document ? JSON.stringify(document) : said }],
  ...(document ? { structuredContent: document } : {}),
  isError: (exitCode !== 0 && exitCode !== 8) || (document !== null && 'error' in document),
  _meta: { 'farelock/exit-code': exitCode },
});

const refusal = (error: Problem) => answer({ said: '', exitCode: error.kind.exit }, problemDocument(error));

/** Desk commands that pay out without the wallet's signature, with the field of their plan that has the amount. */
const AMOUNTS: Readonly<Record<string, string>> = { 'refund approve': 'payout_amount', 'stuck resolve': 'amount' };

/** The amount that the plan of a desk command would pay out, atomic USDC; null if the plan was refused. */
function amountMoved(plan: Readonly<Record<string, unknown>> | null): bigint | null {
  if (plan === null || plan.dry_run !== true) return null;
  const amount = Object.values(AMOUNTS)
    .map((field) => plan[field])
    .find((value) => typeof value === 'number');
  return typeof amount === 'number' ? BigInt(amount) : 0n;
}
