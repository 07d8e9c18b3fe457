import { type CommandSpec, specNamed, type ToolSpec } from '../spec/command.ts';
import { shapeOf } from '../spec/options.ts';
import { buildTree } from '../spec/tree.ts';
import { type Candidate, FILES } from './candidate.ts';
import { type Position, positionOf } from './position.ts';
import type { Place } from './source.ts';
import { valuesNamed } from './values.ts';

/** Commands, options and values that may stand where the cursor is. The last of the words is being typed. */
export async function candidatesFor(
  words: readonly string[],
  tool: ToolSpec,
  place: Place,
): Promise<readonly Candidate[]> {
  const program = buildTree(tool, '', { write: () => undefined, width: 80 }, () => undefined);
  const at = positionOf(program, words);
  if (at.option) return prefixed(at, await valuesOfOption(at, tool, place));
  if (at.word.startsWith('-') && !at.isAfterDashes) return starting(at.word, optionsAt(at, program.options));
  const commands = at.command.commands.filter((one) => !Reflect.get(one, '_hidden'));
  const argument = at.argument;
  const values = argument
    ? (chosen(shapeOf(argument.parseArg)?.enum) ?? (await valuesNamed(argument.name(), at, place)))
    : [];
  return [
    ...(at.isAfterDashes
      ? []
      : starting(
          at.word,
          commands.map((one) => ({ value: one.name(), words: one.description() })),
        )),
    ...starting(at.word, values),
  ];
}

async function valuesOfOption(at: Position, tool: ToolSpec, place: Place): Promise<readonly Candidate[]> {
  const { option, word } = at;
  if (!option) return [];
  if (option.long === '--json') {
    const spec = specAt(tool, at.path);
    const { fieldsOf } = await import('../spec/schema-files.ts');
    const fields = spec ? fieldsOf(spec) : [];
    const before = word.includes(',') ? word.slice(0, word.lastIndexOf(',') + 1) : '';
    return fields.map((field) => ({ value: `${before}${field}`, words: '' }));
  }
  const choices = chosen(shapeOf(option.parseArg)?.enum);
  if (choices) return choices;
  const placeholder = /[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? '';
  return valuesNamed(placeholder, at, place);
}

/** A group stands for its list, or for what it shows. */
const specAt = (tool: ToolSpec, path: string): CommandSpec | undefined =>
  [path, `${path} list`, `${path} show`].flatMap((name) => specNamed(tool, name) ?? [])[0];

function optionsAt({ command }: Position, everywhere: Position['command']['options']): Candidate[] {
  return [...command.options, ...everywhere]
    .flatMap(({ long, description, hidden }) =>
      long && !hidden ? [{ value: long, words: description }] : [],
    )
    .concat({ value: '--help', words: 'Print help' });
}

const chosen = (choices: readonly string[] | undefined): Candidate[] | null =>
  choices ? choices.map((value) => ({ value, words: '' })) : null;

const starting = (word: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter((one) => one === FILES || one.value.toLowerCase().startsWith(word.toLowerCase()));

const prefixed = (at: Position, candidates: readonly Candidate[]): Candidate[] =>
  starting(at.word, candidates).map((one) =>
    one === FILES ? one : { ...one, value: `${at.prefix}${one.value}` },
  );
