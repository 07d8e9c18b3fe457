import { startPostgres } from '../../store/postgres.ts';
import { play as playPartner } from '../partner-world/play.ts';
import { SOMETIMES as SOMETIMES_OF_PARTNER } from '../partner-world/sometimes.ts';
import { makeTemplate as makePartnerTemplate } from '../partner-world/stage.ts';
import type { Schedule } from '../world/chance.ts';
import { runCommand } from '../world/command.ts';
import { compare } from './compare.ts';
import { play } from './play.ts';
import { SOMETIMES, SOMETIMES_ON_POSTGRES } from './sometimes.ts';
import { makeTemplate, USUAL } from './stage.ts';

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

/** Asked for by name alone: it wants a server. */
const BY_NAME = {
  async postgres() {
    const server = await startPostgres();
    const template = await makeTemplate();
    return {
      play: (schedule: Schedule) => play(template, schedule, { ...USUAL, postgres: server }),
      sometimes: SOMETIMES_ON_POSTGRES,
      async close() {
        template.close();
        await server.close();
      },
    };
  },
};

export const main = (args: readonly string[]): Promise<number> =>
  args.includes('--compare') ? compare(args) : runCommand(args, WORLDS, BY_NAME);
