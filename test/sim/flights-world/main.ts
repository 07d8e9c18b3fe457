import { runCommand } from '../world/command.ts';
import { compare } from './compare.ts';
import { play } from './play.ts';
import { SOMETIMES } from './sometimes.ts';
import { makeTemplate } from './stage.ts';

/** Every world that `npm run sim` knows. */
const WORLDS = {
  async flights() {
    const template = await makeTemplate();
    return { play: play.bind(null, template), sometimes: SOMETIMES, close: template.close };
  },
};

export const main = (args: readonly string[]): Promise<number> =>
  args.includes('--compare') ? compare(args) : runCommand(args, WORLDS);
