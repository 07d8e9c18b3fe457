import { mishapOn, scenarioRoute } from '../airline/index.ts';
import SENTENCES from './scenarios.json' with { type: 'json' };

/** The scenarios, with their sentences for docs/sandbox.md. */
export const SITE_SCENARIOS: Record<keyof typeof SENTENCES, string> = SENTENCES;

export type SiteScenario = keyof typeof SITE_SCENARIOS;

export const SITE_SCENARIO_NAMES = Object.keys(SITE_SCENARIOS) as SiteScenario[];

export const siteScenario = (name: string | null | undefined): SiteScenario | null =>
  SITE_SCENARIO_NAMES.find((one) => one === name) ?? null;

/** The scenario that the start page set, else the route's, else the site's. */
export function scenarioOfVisit(
  asked: SiteScenario | null,
  configured: SiteScenario,
  origin: string,
  destination: string,
): SiteScenario {
  if (asked !== null) return asked;
  if (!scenarioRoute(origin, destination)) return configured;
  return siteScenario(mishapOn('none', origin, destination)) ?? configured;
}
