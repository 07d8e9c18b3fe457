import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import type { Command } from '../../spec/command.ts';
import { attestationsView, openedAttestationLines, STATES } from '../../view/partner/attestation.ts';
import { nextLines } from '../../view/payment.ts';
import { printPlan } from '../../view/plan.ts';

interface AttestationOptions {
  readonly attestationId: string;
}
interface AttestationDecideOptions extends AttestationOptions {
  readonly verdict: 'passed' | 'rejected';
  readonly reason?: string;
}

/** Attestations that run, or were rejected: what a person may decide. */
export const attestationsList: Command<object> = async ({ terminal, session, signal, clock }) => {
  await session.work();
  const found = await (await session.partnerDesk()).attestations({ signal });
  terminal.result(found, attestationsView(clock.now()));
  const [first] = found.attestations;
  if (first) terminal.aside(['', ...nextLines(`farelock attestations show ${quoted(first.attestation_id)}`)]);
  return 0;
};

/** One, with the customer data that it is about. The look is in the audit trail. */
export const attestationShow: Command<AttestationOptions> = async (context, { attestationId }) => {
  const { terminal, session, signal } = context;
  await session.work();
  const opened = await (await session.partnerDesk()).attestation(attestationId, { signal });
  terminal.result(opened, { lines: openedAttestationLines });
  terminal.aside(['', ...nextLines(`farelock attestations decide ${quoted(attestationId)} passed`)]);
  return 0;
};

/**
 * A person's verdict, which counts also against an earlier one. Asks first.
 * @throws Problem `attestation_not_found`, `declined`
 */
export const attestationDecide: Command<AttestationDecideOptions> = async (context, given) => {
  const { terminal, session, signal, globals } = context;
  const { attestationId, verdict, reason } = given;
  await session.work();
  const desk = await session.partnerDesk();
  const words = verdict === 'passed' ? 'Pass it' : 'Reject it';
  if (globals.dryRun || !globals.yes) {
    const listed = (await desk.attestations({ signal })).attestations.find(
      ({ attestation_id }) => attestation_id === attestationId,
    );
    // One that passed is not listed any more; who asks for it by its id looks at it.
    const now = listed ?? (await desk.attestation(attestationId, { signal }));
    const step = `${words}: ${now.type} of ${now.customer_id}, which ${STATES[now.state]}.`;
    if (globals.dryRun) {
      printPlan(terminal, [step], { attestation_id: attestationId, verdict });
      return 0;
    }
    const prompts = terminal.ask('--yes');
    terminal.note(step);
    if (!(await prompts.confirm('Record this decision?', false))) throw problem('declined');
  }
  const decided = await desk.decideAttestation(
    attestationId,
    { verdict, ...(reason === undefined ? {} : { reason }) },
    { signal },
  );
  terminal.result(decided, {
    lines: ({ type, customer_id, state }, { paint }) => [
      `${state === 'passed' ? paint.good('✓') : paint.bad('✗')} ${type} of ${customer_id}: ${state}`,
    ],
  });
  return 0;
};
