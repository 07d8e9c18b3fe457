import { isProblem } from '../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../kernel/shell-word.ts';
import type { CommandDescription, ParameterDescription, ToolDescription, ToolSpec } from '../spec/index.ts';
import { parse } from '../tool/index.ts';
import { isInline, keyOf, parametersOf, toolName } from './tools.ts';

/** Next steps after a failed call: commands for a person's shell, and those that a client can call itself. */
interface NextSteps {
  /** Lines to type, without what the server put into them. */
  readonly next: readonly string[];
  /** The same as tools; `again` is true for the call that failed. */
  readonly calls: readonly NextCall[];
}

interface NextCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** With whatever is not repeated here, such as the passengers. */
  readonly again?: true;
}

interface ToolGiven {
  readonly described: ToolDescription;
  readonly spec: ToolSpec;
  /** The commands that a client may call, by name. */
  readonly callable: ReadonlySet<string>;
}

interface Understood {
  readonly name: string;
  readonly given: readonly { readonly parameter: ParameterDescription; readonly text: string | null }[];
}

export function nextStepsFor(failed: CommandDescription, next: readonly NextStep[], tool: ToolGiven): NextSteps {
  const { commands } = tool.described;
  const steps = next.map((step) => ({ step, understood: 'argv' in step ? understand(step.argv, tool) : null }));
  return {
    next: steps.map(({ step, understood }) => lineOf(understood ? { argv: wordsOf(understood) } : step)),
    calls: steps.flatMap(({ understood }) => {
      const command = understood && commands.find(({ name }) => name === understood.name);
      if (!understood || !command || !tool.callable.has(command.name)) return [];
      return [callOf(understood, command, command.name === failed.name)];
    }),
  };
}

/** Null for words that the tool itself would not take. */
function understand(words: readonly string[], { described, spec }: ToolGiven): Understood | null {
  const { commands, global_options } = described;
  const name = commandOf(words, spec);
  const command = commands.find((one) => one.name === name);
  if (!command) return null;
  const own = new Set<ParameterDescription>([...command.arguments, ...command.options]);
  const known = new Map([...own, ...global_options].map((one) => [one.name, one]));
  const rest = [...words];
  const path = command.name.split(' ');
  const given: { parameter: ParameterDescription; text: string | null }[] = [];
  const places = [...command.arguments];
  let isPositional = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (isPositional || !word.startsWith('-')) {
      if (!isPositional && places.length === command.arguments.length && path[0] === word) {
        path.shift();
        continue;
      }
      const parameter = places[0];
      if (!parameter) return null;
      if (!parameter.repeated) places.shift();
      given.push({ parameter, text: word });
      continue;
    }
    if (word === '--') {
      isPositional = true;
      continue;
    }
    const [option = '', ...value] = word.split('=');
    const parameter = known.get(option);
    if (!parameter) continue;
    const takesNext = parameter.value !== null && parameter.value_optional !== true && value.length === 0;
    const text = takesNext ? (rest.shift() ?? '') : value.length > 0 ? value.join('=') : null;
    // What every command takes, the server has put there.
    if (own.has(parameter)) given.push({ parameter, text });
  }
  return { name: command.name, given };
}

/** `wallet limits` is `wallet limits show`. */
function commandOf(words: readonly string[], tool: ToolSpec): string | null {
  const nowhere = { isTTY: false, columns: null, write: () => undefined };
  try {
    const streams = { stdout: nowhere, stderr: nowhere, stdin: { isTTY: false, text: async () => '' } };
    return parse(words, { tool, version: '', streams })?.name ?? null;
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}

function wordsOf({ name, given }: Understood): string[] {
  const words = given.map(({ parameter, text }) => {
    if (!parameter.name.startsWith('--')) return text ?? '';
    return text === null ? parameter.name : `${parameter.name}=${text}`;
  });
  const positional = words.filter((_word, index) => !given[index]?.parameter.name.startsWith('--'));
  const options = words.filter((_word, index) => given[index]?.parameter.name.startsWith('--'));
  const parts = positional.some((word) => word.startsWith('-'))
    ? [...options, '--', ...positional]
    : [...positional, ...options];
  return [...name.split(' '), ...parts];
}

function callOf({ given }: Understood, command: CommandDescription, isAgain: boolean): NextCall {
  const callable = new Set(parametersOf(command).map(({ name }) => name));
  const values: Record<string, unknown> = {};
  for (const { parameter, text } of given) {
    if (!callable.has(parameter.name) || isInline(command, parameter.name) || text === '…') continue;
    const key = keyOf(parameter);
    const value = text === null ? true : parameter.value?.type === 'integer' ? Number(text) : text;
    const before = values[key];
    values[key] = parameter.repeated ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  return { tool: toolName(command), arguments: values, ...(isAgain && { again: true }) };
}
