import { EXIT_CODES } from '../../src/cli/commands/explain/run.ts';
import type { ToolSpec } from '../../src/cli/spec/command.ts';
import type { CommandDescription, ParameterDescription, ToolDescription } from '../../src/cli/spec/description.ts';
import { capital } from '../../src/terminal/index.ts';
import { EFFECTS, synopsis, takes } from './pages.ts';

/** The man pages, made from the specs: farelock(1), and one for each command or group of commands. */

/** Text as roff reads it: no escape, no hyphen that breaks a copied option, no request at the start of a line. */
const roff = (text: string): string =>
  text
    .replaceAll('`', '')
    .replaceAll('…', '...')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
    .replace(/[^\n -~]/g, (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`);
const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
const heading = (page: string): string => `.TH "${roff(page.toUpperCase())}" "1" "" "Farelock" "Farelock Manual"`;
const named = (page: string, summary: string) => ['.SH NAME', `${roff(page)} \\- ${roff(summary)}`];
const item = (label: string, text: string) => ['.TP', label, roff(text || 'See above.')];

const labelOf = ({ name, short, value }: ParameterDescription): string =>
  [...(short ? [bold(short)] : []), `${bold(name)}${value === null ? '' : ' \\fIvalue\\fR'}`].join(', ');
const aboutOf = (one: ParameterDescription): string => {
  const given = one.value?.enum
    ? ''
    : takes(one)
        .replaceAll('**', '')
        .replace(/^string(; )?/, '');
  return [one.description, given && one.description ? `(${given})` : given].filter(Boolean).join(' ');
};

const parametersOf = ({ arguments: given, options }: CommandDescription): string[] => [
  ...given.flatMap((one) => item(`\\fI${roff(one.name)}\\fR`, aboutOf(one))),
  ...options.flatMap((one) => item(labelOf(one), aboutOf(one))),
];

const examplesOf = (lines: readonly string[]): string[] => ['.PP', '.nf', ...lines.map(roff), '.fi'];

function commandPage(first: string, summary: string, commands: readonly CommandDescription[]): string {
  const page = `farelock-${first}`;
  return [
    heading(page),
    ...named(page, summary),
    '.SH SYNOPSIS',
    '.nf',
    ...commands.map((command) => bold(synopsis(command))),
    '.fi',
    '.SH DESCRIPTION',
    ...commands.flatMap((command) => [
      ...(commands.length > 1 ? [`.SS ${roff(command.name)}`] : []),
      roff(`${command.description}. ${capital(EFFECTS[command.effect])}.`),
      ...parametersOf(command),
      ...examplesOf(command.examples),
    ]),
    '.SH SEE ALSO',
    '.BR farelock (1)',
    '',
  ].join('\n');
}

function toolPage(tool: ToolDescription, spec: ToolSpec, firsts: readonly string[]): string {
  return [
    heading('farelock'),
    ...named('farelock', tool.description),
    '.SH SYNOPSIS',
    '.B farelock',
    '\\fIcommand\\fR [\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    'On a terminal and without a command it asks for the journey. Each command has a page of its own, and help.',
    ...Object.entries(spec.sections).flatMap(([section, commands]) => [
      `.SS ${roff(section.replace(/:$/, ''))}`,
      ...commands.flatMap(({ name, summary }) => item(bold(name), summary)),
    ]),
    '.SH OPTIONS',
    'Every command takes these.',
    ...tool.global_options.flatMap((one) => item(labelOf(one), aboutOf(one))),
    '.SH EXIT STATUS',
    ...Object.entries(EXIT_CODES).flatMap(([code, meaning]) => item(code, meaning)),
    '.SH EXAMPLES',
    ...examplesOf(spec.examples),
    '.SH SEE ALSO',
    ...firsts.map((first, index) => `.BR farelock\\-${roff(first)} (1)${index < firsts.length - 1 ? ',' : ''}`),
    '',
  ].join('\n');
}

/** Every page by the name of its file. */
export function manPages(tool: ToolDescription, spec: ToolSpec): Record<string, string> {
  const firsts = [...new Set(tool.commands.map(({ name }) => name.split(' ')[0] ?? ''))];
  const pages = firsts.map((first): [string, string] => {
    const commands = tool.commands.filter(({ name }) => name.split(' ')[0] === first);
    const summary = spec.groups[first] ?? commands[0]?.description ?? '';
    return [`farelock-${first}.1`, commandPage(first, summary, commands)];
  });
  return { 'farelock.1': toolPage(tool, spec, firsts), ...Object.fromEntries(pages) };
}
