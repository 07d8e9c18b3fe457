import { play as playPartner } from '../partner-world/play.ts';
import { SOMETIMES as SOMETIMES_OF_PARTNER } from '../partner-world/sometimes.ts';
import { makeTemplate as makePartnerTemplate } from '../partner-world/stage.ts';
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
  async partner() {
    const template = await makePartnerTemplate();
    return { play: playPartner.bind(null, template), sometimes: SOMETIMES_OF_PARTNER, close: template.close };
  },
};

export const main = (args: readonly string[]): Promise<number> =>
  args.includes('--compare') ? compare(args) : runCommand(args, WORLDS);
