import { join } from 'node:path';
import { systemClock } from '../kernel/clock.ts';
import { didYouMean } from '../kernel/nearest.ts';
import { problem } from '../kernel/problems.ts';
import { SANDBOX_MAIL_DOMAIN } from '../sandbox/carrier-site/dkim-key.ts';
import { openCarrierSite as openSite } from '../sandbox/carrier-site/index.ts';
import { SITE_SCENARIO_NAMES, siteScenario } from '../sandbox/carrier-site/scenarios.ts';
import type { OpenCarrierSite } from './types.ts';

/** The pretend carrier's web site with books of its own. @throws Problem `usage` for an unknown scenario */
export const openCarrierSite: OpenCarrierSite = async (options) => {
  const { home, clock = systemClock, seed = 'farelock', mailFolder, mailMs, slowMs } = options;
  const scenario = options.scenario === undefined ? 'none' : siteScenario(options.scenario);
  if (scenario === null) {
    const hint = didYouMean(options.scenario ?? '', SITE_SCENARIO_NAMES);
    throw problem('usage', {
      message: `${options.scenario}: there is no such scenario.${hint && ` ${hint}`}`,
      fix: `Give one of ${SITE_SCENARIO_NAMES.join(', ')}.`,
    });
  }
  const books = join(home, 'carrier-site', 'books.db');
  const site = openSite({ seed, clock, books, scenario, mailFolder, mailMs, slowMs });
  return { ...site, scenario, mailDomain: SANDBOX_MAIL_DOMAIN };
};
