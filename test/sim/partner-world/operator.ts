import type { World } from '../world/world.ts';
import { createPerson, type Find } from './people.ts';
import { customerIdOf, type Stage } from './stage.ts';

/** An operator at the desk for attestations, who decides some before the attester does, and some against it. */
export function createOperator(world: World, stage: Stage, find: Find) {
  const { chance } = world;
  const person = createPerson(world, stage, 'operator', find, { apiKey: '' });
  const isStrict = chance.takesPart('a strict operator', 0.4);

  const decide = (attestationId: string, verdict: 'passed' | 'rejected', tries = 4) => {
    world.saw(`operator: ${verdict}`);
    return person.persist(`decides ${verdict}`, ({ desk }) => desk.decideAttestation(attestationId, { verdict }), {
      tries,
    });
  };

  return {
    computer: person.computer,
    async play(): Promise<void> {
      for (let look = 1; look <= 10; look++) {
        await world.sleep(5_000 + chance.pauseMs(`operator ${look}`, 45_000));
        const [aml] = stage.rows<{ attestation_id: string; state: string }>(
          `select attestation_id, state from attestation_runs where customer_id = ? and type = 'AML_CHECK' limit 1`,
          customerIdOf('eva'),
        );
        if (!aml) continue;
        if (aml.state === 'running' && chance.part(`operator ${look} early`) < 0.3)
          await decide(aml.attestation_id, 'passed');
        else if (aml.state === 'rejected') await decide(aml.attestation_id, 'passed');
        else if (aml.state === 'passed' && isStrict && !stage.doubts.had && chance.part(`operator ${look} no`) < 0.4) {
          stage.doubts.had = true;
          world.tell('operator', 'has doubts about Eva');
          await decide(aml.attestation_id, 'rejected');
        }
      }
    },
  };
}
