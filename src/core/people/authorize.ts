// Decides whether a principal may do an action, for /api, /chat, /events, /mcp, /attach and the command line.
import type { Action, Authorization, Principal, Resource } from '../../contract/index.ts'

const YES: Authorization = { allowed: true }

/** Returns the authorization. Pure: it depends on the principal's kind, roles and scope. Never throws. */
export function authorize(who: Principal, action: Action, on: Resource): Authorization {
  switch (who.kind) {
    case 'operator':
      return YES
    case 'user':
      return userMay(who.roles, action)
    case 'agent':
      return scoped(
        narrowed(['message.send', 'notify.send', 'agent.attach'], who.only),
        action,
        agentOf(on) === who.id,
        'another agent',
      )
    case 'host':
      return scoped(['agent.attach'], action, agentOf(on) === who.agent, 'another agent')
    case 'session': {
      const own = on.kind === 'session' ? on.id === who.id : agentOf(on) === who.agent
      return scoped(narrowed(['message.send', 'notify.send'], who.only), action, own, 'another session')
    }
    case 'integration':
      return scoped(
        ['chat.talk'],
        action,
        on.kind === 'integration' && on.id === who.id,
        'another integration',
      )
  }
}

function userMay(roles: readonly string[], action: Action): Authorization {
  if (roles.includes('owner')) return YES
  if (action === 'chat.talk') return YES
  if (roles.some((role) => MAY[role]?.includes(action))) return YES
  return { allowed: false, reason: `${action} needs another role` }
}

/** Rights beyond those of every user. The owner has all rights. */
const MAY: Readonly<Record<string, readonly Action[]>> = {
  approver: ['approval.read', 'approval.input', 'approval.decide'],
  operator: [
    'admin.read',
    'admin.write',
    'secrets.read',
    'approval.read',
    'approval.input',
    'conversation.hold',
  ],
  viewer: ['admin.read', 'approval.read'],
}

function narrowed(actions: readonly Action[], only: readonly Action[] | undefined): readonly Action[] {
  return only === undefined ? actions : actions.filter((action) => only.includes(action))
}

function scoped(actions: readonly Action[], action: Action, own: boolean, foreign: string): Authorization {
  if (!actions.includes(action))
    return { allowed: false, reason: `this credential is not good for ${action}` }
  return own ? YES : { allowed: false, reason: `this credential belongs to ${foreign}` }
}

function agentOf(on: Resource): string | null {
  if (on.kind === 'agent') return on.id
  return on.kind === 'session' ? on.agent : null
}
