import { problem } from '../../kernel/problems.ts';
import { farelockFailure } from '../desk/http.ts';
import { refuseQuery } from '../http.ts';
import type { PartnerPorts } from '../ports.ts';
import type { Procedures } from '../procedures.ts';

/** Answers GET /partner/openapi.json, and says where nothing is. */
export async function describe(
  ports: PartnerPorts,
  procedures: Procedures,
  request: Request,
  publicUrl: string | undefined,
): Promise<Response> {
  const requestId = ports.ids.next('req');
  const answer = async (): Promise<Response> => {
    if (new URL(request.url).pathname !== '/partner/openapi.json') throw problem('not_found');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw problem('method_not_allowed', { detail: { allow: ['GET', 'HEAD'] } });
    refuseQuery(request.url);
    const { openapiDocument } = await import('./openapi.ts');
    return Response.json(openapiDocument(await procedures.all(), ports.serviceName, publicUrl));
  };
  const response = await answer().catch((error: unknown) =>
    farelockFailure(ports, error, request, requestId),
  );
  response.headers.set('X-Request-Id', requestId);
  return response;
}
