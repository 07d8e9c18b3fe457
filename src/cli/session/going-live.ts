import { problem } from '../../kernel/problems.ts';
import type { PartnerAccess } from './partner-access.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Before anything changes with a live key: --live, --yes, or a person who says yes. A demo asks nothing.
 * @throws Problem `declined`, `input_required`
 */
export async function confirmLive(
  { terminal, globals }: Surroundings,
  access: PartnerAccess,
  isMeant: boolean,
  question: string,
): Promise<void> {
  if (isMeant || globals.yes || (await access.environment()) === 'demo') return;
  if (!(await terminal.ask('--live').confirm(`${question} This is the live environment.`, false))) {
    throw problem('declined');
  }
}
