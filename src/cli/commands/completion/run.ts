import { COMPLETION_SCRIPTS, type Shell } from '../../completion/scripts.ts';
import type { Command } from '../../spec/command.ts';

interface CompletionOptions {
  readonly shell: Shell;
}

/** The script that completes commands, options and values in a shell; how to install it stands at its beginning. */
export const completion: Command<CompletionOptions> = async ({ terminal }, { shell }) => {
  const script = COMPLETION_SCRIPTS[shell];
  terminal.result({ shell, script }, { lines: () => script.trimEnd().split('\n') });
  return 0;
};
