// The operator's desk over HTTP: the one table of /api routes.
import type { z } from 'zod'
import { defined, lateText, SwitchboardError } from '../../contract/index.ts'
import { LOCAL_USER } from '../../core/people/users.ts'
import { errorReply } from '../reply.ts'
import { exportAudit } from './audit-export.ts'
import { CONSOLE_ROUTES } from './console-routes.ts'
import { CONVERSATION_ROUTES } from './conversation-routes.ts'
import { cutText } from './cut-text.ts'
import {
  AccessBody,
  ApprovalQuery,
  ConsoleLinkBody,
  DecideBody,
  DoctorQuery,
  ExportQuery,
  momentMs,
  PageQuery,
  PairBody,
  positionOf,
  RevokeBody,
  SecretBody,
  SendQuery,
  TokenBody,
  TokenQuery,
  TurnQuery,
  VerifyQuery,
} from './inputs.ts'
import { withoutInput, withoutPrompt, withoutToolTexts } from './masking.ts'
import { PEOPLE_ROUTES } from './people-routes.ts'
import { type Route, route, whole } from './route.ts'
import { SENDING_ROUTES } from './sending-routes.ts'

function found<T>(value: T | null, what: string): T {
  if (value === null) throw new SwitchboardError('not_found', `there is no such ${what}`)
  return value
}

function page<T extends { readonly id: string }>(items: readonly T[], limit: number, chars?: number) {
  const next = items.length === limit ? (items.at(-1)?.id ?? null) : null
  return { items: items.map((one) => cutText(one, chars)), next }
}

const all = <T>(items: readonly T[]) => ({ items, next: null })

const reading: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/status',
    summary: 'The state of the gateway: links, agents, counts.',
    run: ({ desk }) => desk.status(),
  }),
  route({
    method: 'GET',
    path: '/api/doctor',
    summary: 'The live path of every agent and binding, gate by gate.',
    query: DoctorQuery as z.ZodType<z.infer<typeof DoctorQuery>>,
    run: ({ desk, query }) =>
      query.security === 'true'
        ? desk.doctor({ security: true, ...(query.send_test === 'true' ? { sendTest: true } : {}) })
        : desk.doctor(),
  }),
  route({
    method: 'GET',
    path: '/api/turns',
    summary: 'Turns, newest first.',
    query: TurnQuery as z.ZodType<z.infer<typeof TurnQuery>>,
    run: async ({ desk, query: { state, since, until, before, span, chars, ...rest }, now }) => {
      const filter = defined({
        ...rest,
        states: state,
        sinceMs: momentMs('since', since, now),
        untilMs: momentMs('until', until, now),
        beforeSeq: positionOf(before),
      })
      if (span !== undefined) {
        const { items, next } = await desk.turnPage({ ...filter, limit: rest.limit }, span)
        return { items: items.map((one) => cutText(one, chars)), next: next === null ? null : String(next) }
      }
      return page(await desk.turns({ ...filter, limit: rest.limit }), rest.limit, chars)
    },
  }),
  route({
    method: 'GET',
    path: '/api/turns/{id}',
    summary: 'One turn.',
    run: async ({ desk, path, may }) => {
      const turn = found(await desk.turn(path.id ?? ''), 'turn')
      return may('approval.input') ? turn : withoutToolTexts(turn)
    },
  }),
  route({
    method: 'GET',
    path: '/api/outbox',
    summary: 'Outbound messages, newest first.',
    query: SendQuery as z.ZodType<z.infer<typeof SendQuery>>,
    run: async ({ desk, query: { state, since, before, chars, ...rest }, now, may }) => {
      const filter = defined({
        ...rest,
        states: state,
        sinceMs: momentMs('since', since, now),
        beforeSeq: positionOf(before),
      })
      const sends = await desk.sends({ ...filter, limit: rest.limit })
      return page(may('approval.input') ? sends : sends.map(withoutPrompt), rest.limit, chars)
    },
  }),
  route({
    method: 'GET',
    path: '/api/outbox/{id}',
    summary: 'One outbound message.',
    run: async ({ desk, path, may }) => {
      const send = found(await desk.send(path.id ?? ''), 'outbound message')
      return may('approval.input') ? send : withoutPrompt(send)
    },
  }),
  route({
    method: 'GET',
    path: '/api/approvals',
    summary: 'Tool calls that wait, or waited, for a person.',
    action: 'approval.read',
    query: ApprovalQuery as z.ZodType<z.infer<typeof ApprovalQuery>>,
    run: async ({ desk, query: { state, id, limit, before }, may }) => {
      const which = defined({ id, before: positionOf(before) })
      const found = await desk.approvals(state ?? null, limit, which)
      const items = may('approval.input') ? found : found.map(withoutInput)
      return { items, next: items.length === limit ? String(items.at(-1)?.seq) : null }
    },
  }),
  route({
    method: 'GET',
    path: '/api/pairings',
    summary: 'People who are waiting to be let in.',
    query: PageQuery,
    run: async ({ desk }) => all(await desk.pairings()),
  }),
  route({
    method: 'GET',
    path: '/api/access',
    summary: 'Who may talk and who may approve.',
    query: PageQuery,
    run: async ({ desk }) => all(await desk.access()),
  }),
  route({
    method: 'GET',
    path: '/api/audit/verify',
    summary: 'Checks the chain of the ledger and that every message is accounted for.',
    query: VerifyQuery as z.ZodType<z.infer<typeof VerifyQuery>>,
    run: ({ desk, query }) => desk.verifyAudit(query.expect),
  }),
  route({
    method: 'GET',
    path: '/api/audit/head',
    summary: 'The head of the ledger’s chain, to keep elsewhere. It proves nothing by itself.',
    run: ({ desk }) => desk.auditHead(),
  }),
  route({
    method: 'GET',
    path: '/api/audit/export',
    summary: 'The whole ledger, streamed as NDJSON or CSV.',
    query: ExportQuery as z.ZodType<z.infer<typeof ExportQuery>>,
    run: async ({ desk, query }) => whole(exportAudit(desk, query.format)),
  }),
  route({
    method: 'GET',
    path: '/api/tokens',
    summary:
      'Tokens that were minted, with `all` also those of single deliveries; never the tokens themselves.',
    action: 'secrets.read',
    query: TokenQuery as z.ZodType<z.infer<typeof TokenQuery>>,
    run: async ({ desk, query }) => all(await desk.tokens({ all: query.all === 'true' })),
  }),
  route({
    method: 'GET',
    path: '/api/secrets',
    summary: 'Names in the encrypted store; never the values.',
    action: 'secrets.read',
    query: PageQuery,
    run: async ({ desk }) => all((await desk.secretNames()).map((name) => ({ name }))),
  }),
]

const turnVerb = (verb: 'retry' | 'cancel', summary: string) =>
  route({
    method: 'POST',
    path: `/api/turns/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.operateTurn(path.id ?? '', verb, by),
  })

const sendVerb = (verb: 'retry' | 'bury', summary: string) =>
  route({
    method: 'POST',
    path: `/api/outbox/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.operateSend(path.id ?? '', verb, by),
  })

const operating: readonly Route[] = [
  turnVerb('retry', 'Offers a failed or expired turn again.'),
  turnVerb('cancel', 'Ends an open turn.'),
  sendVerb('retry', 'Sends a failed or unknown message again.'),
  sendVerb('bury', 'Gives a message up for good.'),
  route({
    method: 'POST',
    path: '/api/approvals/{id}/decide',
    summary: 'Says yes or no. 409 when somebody else was first.',
    action: 'approval.decide',
    body: DecideBody,
    run: async ({ desk, path, body, by, via }) => {
      const { won, approval } = await desk.decide(path.id ?? '', body.behavior, by, via)
      if (won) return { won, approval }
      const late = lateText({ ...approval, decidedBy: approval.decided_by })
      return whole(errorReply(new SwitchboardError('conflict', late), { won, approval }))
    },
  }),
  route({
    method: 'POST',
    path: '/api/pairings/{code}/approve',
    summary: 'Lets a stranger in: to talk, and to what the body says beside it.',
    body: PairBody as z.ZodType<z.infer<typeof PairBody>>,
    gives: ({ approver, user }) => approver === true || user !== undefined,
    run: ({ desk, path, body, by, user }) =>
      desk.approvePairing(
        path.code ?? '',
        by,
        defined({ approver: body.approver, user: body.me === true ? (user ?? LOCAL_USER) : body.user }),
      ),
  }),
  route({
    method: 'POST',
    path: '/api/pairings/{code}/deny',
    summary: 'Forgets a stranger’s code.',
    run: ({ desk, path, by }) => desk.denyPairing(path.code ?? '', by),
  }),
  route({
    method: 'POST',
    path: '/api/access/grant',
    summary: 'Grants a right to a sender.',
    body: AccessBody as z.ZodType<z.infer<typeof AccessBody>>,
    gives: ({ right }) => right === 'approve',
    run: ({ desk, body, by }) => desk.grant(body.integration, body.sender, body.right, by),
  }),
  route({
    method: 'POST',
    path: '/api/access/revoke',
    summary: 'Takes a right back.',
    body: RevokeBody as z.ZodType<z.infer<typeof RevokeBody>>,
    run: async ({ desk, body, by }) => ({
      revoked: await desk.revoke(body.integration, body.sender, body.right, by),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Mints a token; it is shown this once.',
    body: TokenBody as z.ZodType<z.infer<typeof TokenBody>>,
    // Every kind is good for something that an operator may not: to send, to attach, to decide.
    gives: () => true,
    run: ({ desk, body, by }) => desk.mintToken(body, by),
  }),
  route({
    method: 'DELETE',
    path: '/api/tokens/{id}',
    summary: 'Revokes a token at once.',
    run: async ({ desk, path, by }) => {
      if (!(await desk.revokeToken(path.id ?? '', by)))
        throw new SwitchboardError('not_found', 'there is no such token, or it was revoked before', {
          hint: 'list them with: switchboard token',
        })
      return { revoked: true }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/secrets/{name}',
    summary: 'Keeps a secret, encrypted.',
    body: SecretBody,
    // Whoever knows the secret of a door speaks as everybody behind it.
    gives: () => true,
    run: ({ desk, path, body, by }) => desk.setSecret(secretName(path.name), body.value, by),
  }),
  route({
    method: 'DELETE',
    path: '/api/secrets/{name}',
    summary: 'Forgets a secret.',
    run: async ({ desk, path, by }) => {
      if (!(await desk.removeSecret(secretName(path.name), by))) {
        throw new SwitchboardError('not_found', 'there is no such secret')
      }
      return { removed: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api/secrets/rotate',
    summary: 'Encrypts all secrets with a new key.',
    run: ({ desk, by }) => desk.rotateSecrets(by),
  }),
  route({
    method: 'POST',
    path: '/api/schedules/{agent}/{id}/run',
    summary: 'Starts a schedule now, as a turn of its own.',
    run: ({ desk, path, by }) => desk.runSchedule(path.agent ?? '', path.id ?? '', by),
  }),
  route({
    method: 'POST',
    path: '/api/chat-link',
    summary: 'A fresh one-time link to the chat page.',
    // Whoever opens it may approve.
    gives: () => true,
    run: ({ desk, by }) => desk.chatLink(by),
  }),
  route({
    method: 'POST',
    path: '/api/console-link',
    summary: 'A fresh one-time link that signs a user in at the console.',
    body: ConsoleLinkBody as z.ZodType<z.infer<typeof ConsoleLinkBody>>,
    // Whoever opens it has all that this user may do.
    gives: () => true,
    run: ({ desk, body, by }) => desk.consoleLink(defined(body), by),
  }),
  route({
    method: 'POST',
    path: '/api/chorus/{id}/connect',
    summary: 'Mints a connection string of a chorus integration; it is shown this once.',
    // It speaks as whom it likes, approvers included.
    gives: () => true,
    run: ({ desk, path, by }) => desk.connectChorus(path.id ?? '', { rotate: false }, by),
  }),
  route({
    method: 'POST',
    path: '/api/chorus/{id}/rotate',
    summary: 'Mints a connection string and kills the older ones of the integration.',
    gives: () => true,
    run: ({ desk, path, by }) => desk.connectChorus(path.id ?? '', { rotate: true }, by),
  }),
  route({
    method: 'POST',
    path: '/api/reload',
    summary: 'Reads the configuration again; an invalid one changes nothing.',
    run: ({ desk, by }) => desk.reload(by),
  }),
]

function secretName(name: string | undefined): string {
  if (name !== undefined && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(name)) return name
  throw new SwitchboardError(
    'input_invalid',
    'name: starts with a letter or digit and holds letters, digits, _ . and -, at most 128',
  )
}

export const ROUTES: readonly Route[] = [
  ...CONSOLE_ROUTES,
  ...reading,
  ...operating,
  ...SENDING_ROUTES,
  ...CONVERSATION_ROUTES,
  ...PEOPLE_ROUTES,
]
