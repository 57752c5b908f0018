// The intake steps as pure functions: order, gate, mention, verdict form, commands.
import { describe, expect, it } from 'vitest'
import type { AccessPolicy, ApprovalRow, InboundEvent, InboundMessage } from '../../contract/index.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { wordsIn } from '../../words/index.ts'
import { verdictInTap, verdictInText } from '../approvals/verdict-form.ts'
import { messageForm } from './message-form.ts'
import type { StepInput } from './step-input.ts'
import { runSteps } from './steps.ts'

type Readable = Extract<AccessPolicy, { readable: true }>

const POLICY: Readable = {
  readable: true,
  dm: 'allowlist',
  allowFrom: ['anna'],
  approvers: ['boss'],
  groups: {},
  mentionPatterns: [],
}

function message(over: Partial<InboundMessage> = {}): InboundMessage {
  return {
    kind: 'message',
    conversation: 'anna',
    chat: 'direct',
    sender: { id: 'anna' },
    at: 1,
    text: 'hi',
    messageId: '1',
    ...over,
  }
}

function input(
  event: InboundEvent,
  policy: Partial<Readable> | AccessPolicy = {},
  over: Partial<StepInput> = {},
): StepInput {
  const access =
    'readable' in policy && policy.readable === false
      ? policy
      : { ...POLICY, ...policy, readable: true as const }
  const integration = testIntegration('chat', { access: access as AccessPolicy })
  return {
    event,
    form: messageForm(event),
    waiting: [],
    words: wordsIn(),
    integration,
    settings: testSettings({ integrations: [integration], agents: ['demo'] }),
    at: { integration: 'chat', conversation: event.conversation },
    agent: 'demo',
    now: 1_000,
    late: false,
    failureWords: [],
    heldBy: null,
    grants: { has: () => false, senders: () => [] },
    approval: null,
    reach: { attached: [], stoppable: [] },
    canEdit: true,
    textAsFile: false,
    promptLimit: { size: 4096, unit: 'utf-16', markdown: 'written' },
    senderLimit: { over: false },
    senderLimitKey: 'tunables.sender_limit',
    floodLimitKey: 'tunables.flood_limit',
    asked: false,
    floodLimit: { over: false },
    freshCode: () => '0a1b2c',
    ...over,
  }
}

const refused = (reason: string) => ({ decision: { go: 'refuse', reason } })
const PASSED = { decision: { go: 'continue' } }

function approval(over: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    seq: 1,
    id: 'abcde',
    hostId: null,
    agent: 'demo',
    session: 's',
    turn: null,
    ask: { toolName: 'Deploy', description: 'd', input: 'i' },
    inputHash: 'h',
    expiresAt: 2_000,
    state: 'pending',
    behavior: null,
    cause: null,
    decidedBy: null,
    decidedVia: null,
    decidedAt: null,
    createdAt: 0,
    asker: null,
    ...over,
  }
}

describe('the sender gate', () => {
  it('[S4.gate-on-sender] looks at the sender id, not at the room or the name', () => {
    const stranger = message({ conversation: 'anna', sender: { id: 'mallory', name: 'anna' } })
    expect(runSteps(input(stranger))).toMatchObject(refused('sender_not_allowed'))
    expect(runSteps(input(message({ conversation: 'elsewhere' })))).toMatchObject(PASSED)
  })

  it('[S4.dm-allowlist] [S4.dm-disabled] keeps to the policy for direct messages', () => {
    const other = message({ sender: { id: 'other' } })
    expect(runSteps(input(other))).toEqual({
      decision: { go: 'refuse', reason: 'sender_not_allowed', key: 'integrations[0].access.allow_from' },
    })
    expect(runSteps(input(message(), { dm: 'disabled' }))).toMatchObject(refused('dm_disabled'))
  })

  it('[S4.dm-pairing] gives a stranger a code and refuses the message', () => {
    const result = runSteps(input(message({ sender: { id: 'new', name: 'New' } }), { dm: 'pairing' }))
    expect(result).toMatchObject(refused('pairing_required'))
    expect(result.effects).toEqual([
      expect.objectContaining({ kind: 'pair', sender: 'new', code: '0a1b2c', expiresAt: 1_000 + 3_600_000 }),
    ])
    const grants = { has: (_i: string, sender: string) => sender === 'new', senders: () => [] }
    expect(runSteps(input(message({ sender: { id: 'new' } }), { dm: 'pairing' }, { grants }))).toMatchObject(
      PASSED,
    )
  })

  it('[S4.default-web] [S4.default-webhook] takes the credential as the gate, narrowed by a list', () => {
    const anyone = message({ sender: { id: 'x' } })
    expect(runSteps(input(anyone, { dm: 'credential', allowFrom: [] }))).toMatchObject(PASSED)
    expect(runSteps(input(anyone, { dm: 'credential' }))).toMatchObject(refused('sender_not_allowed'))
  })

  it('[S4.unreadable-closes] closes the door on a policy that cannot be read', () => {
    expect(runSteps(input(message(), { readable: false, problem: 'x' }))).toMatchObject(
      refused('policy_unreadable'),
    )
  })

  const inGroup = (over: Partial<InboundMessage> = {}) =>
    message({ chat: 'group', conversation: 'g', ...over })
  const group = (over = {}) => ({ groups: { g: { requireMention: true, allowFrom: [], ...over } } })

  it('[S4.groups-off] refuses a group that is not listed', () => {
    expect(runSteps(input(inGroup({ mentioned: true })))).toMatchObject(refused('group_not_listed'))
  })

  it.each(['constructor', '__proto__', 'toString'])(
    '[S4.groups-off] takes no name that every object has for a listed group: %s',
    (conversation) => {
      expect(runSteps(input(inGroup({ conversation, mentioned: true })))).toMatchObject(
        refused('group_not_listed'),
      )
    },
  )

  it('[S4.group-mention-default] [S3.mention-patterns] wants a mention in a group', () => {
    expect(runSteps(input(inGroup(), group()))).toMatchObject(refused('not_mentioned'))
    expect(runSteps(input(inGroup({ mentioned: true }), group()))).toMatchObject(PASSED)
    expect(runSteps(input(inGroup(), group({ requireMention: false })))).toMatchObject(PASSED)
    const patterns = { ...group(), mentionPatterns: ['[broken', '\\bkate\\b'] }
    expect(runSteps(input(inGroup({ text: 'Kate, look' }), patterns))).toMatchObject(PASSED)
    expect(runSteps(input(inGroup({ text: 'look' }), patterns))).toMatchObject(refused('not_mentioned'))
  })

  it('[S3.mention-patterns] a long text does not keep a pattern busy', () => {
    const patterns = { ...group(), mentionPatterns: ['.*kate'] }
    const long = inGroup({ text: 'x'.repeat(1_000_000) })
    const begun = performance.now()
    expect(runSteps(input(long, patterns))).toMatchObject(refused('not_mentioned'))
    expect(performance.now() - begun).toBeLessThan(2_000)
  })

  it('[S4.group-empty-allow] [S4.group-star] reads a group list: empty is the integration, * is anybody', () => {
    const member = inGroup({ mentioned: true, sender: { id: 'member' } })
    expect(runSteps(input(member, group()))).toMatchObject(refused('sender_not_allowed'))
    expect(runSteps(input(member, group({ allowFrom: ['*'] })))).toMatchObject(PASSED)
    expect(runSteps(input(member, group({ allowFrom: ['member'] })))).toMatchObject(PASSED)
    expect(runSteps(input(inGroup({ mentioned: true }), group({ allowFrom: ['member'] })))).toMatchObject(
      refused('sender_not_allowed'),
    )
  })

  it('ignores bots', () => {
    expect(runSteps(input(message({ sender: { id: 'anna', isBot: true } })))).toMatchObject(
      refused('bot_message'),
    )
  })
})

describe('the order of the steps', () => {
  it('[S2.in-order-of-steps] [S2.steps-pure] decides by the first gate that closes, always alike', () => {
    const everything = input(
      message({ sender: { id: 'x' }, text: '' }),
      { dm: 'disabled' },
      {
        agent: null,
        floodLimit: { over: true, retryAfterMs: 5 },
        senderLimit: { over: true, retryAfterMs: 7 },
      },
    )
    expect(runSteps(everything)).toMatchObject(refused('flood'))
    expect(runSteps(everything)).toEqual(runSteps(everything))
    const noFlood = { ...everything, floodLimit: { over: false } as const }
    expect(runSteps(noFlood)).toMatchObject(refused('dm_disabled'))
    const allowed = { ...input(message({ text: '' })), agent: null, senderLimit: everything.senderLimit }
    expect(runSteps(allowed)).toEqual({
      decision: { go: 'refuse', reason: 'rate_limited', key: 'tunables.sender_limit', retryAfterMs: 7 },
    })
    expect(runSteps({ ...allowed, senderLimit: { over: false } })).toMatchObject(refused('no_binding'))
    expect(runSteps({ ...allowed, senderLimit: { over: false }, agent: 'demo' })).toMatchObject(
      refused('empty'),
    )
  })

  it('[S2.verdict-before-limit] lets a limited approver decide', () => {
    const verdict = message({ sender: { id: 'boss' }, text: 'yes abcde' })
    const limited = { senderLimit: { over: true, retryAfterMs: 1 } as const, approval: approval() }
    expect(runSteps(input(verdict, { allowFrom: ['boss'] }, limited))).toMatchObject({
      decision: { go: 'consume', reason: 'verdict' },
    })
  })

  it('[S2.verdict-after-gate] does not hear a stranger', () => {
    const verdict = message({ sender: { id: 'stranger' }, text: 'yes abcde' })
    expect(runSteps(input(verdict, {}, { approval: approval() }))).toMatchObject(
      refused('sender_not_allowed'),
    )
  })
})

describe('verdicts', () => {
  const boss = (text: string, over: Partial<ApprovalRow> | null = {}) =>
    runSteps(
      input(
        message({ sender: { id: 'boss' }, text }),
        { allowFrom: ['boss', 'anna'] },
        { approval: over && approval(over) },
      ),
    )

  it.each([
    ['Yes ABCDE', 'allow', 'abcde'],
    [' y abcde ', 'allow', 'abcde'],
    ['no abcde', 'deny', 'abcde'],
    ['N\tabcde', 'deny', 'abcde'],
  ])('[S10.text-verdict] %j is a verdict', (text, behavior, id) => {
    expect(verdictInText(text)).toEqual({ behavior, id })
  })

  it.each([
    'yes',
    'yes abcdef',
    'yes alice',
    'yes abcde please',
    'no sorry, wait',
    'maybe abcde',
    'yesabcde',
    '',
  ])('[S10.ordinary-chat] %j is ordinary chat', (text) => {
    expect(verdictInText(text)).toBeNull()
  })

  it('reads the value of a button, and nothing like it', () => {
    expect(verdictInTap('allow:abcde')).toEqual({ behavior: 'allow', id: 'abcde' })
    expect(verdictInTap('allow:abcdl')).toBeNull()
    expect(verdictInTap('grant:abcde')).toBeNull()
  })

  it('[S4.two-rights] [I3.verdict-non-approver] needs an approver: being allowed to talk is not enough', () => {
    const anna = message({ text: 'yes abcde' })
    expect(runSteps(input(anna, {}, { approval: approval() }))).toMatchObject(PASSED)
    expect(boss('yes abcde')).toMatchObject({
      effects: [{ kind: 'decide', approval: 'abcde', behavior: 'allow', by: 'boss', via: 'chat' }],
    })
  })

  it('[S4.group-verdict] [I3.verdict-group-member] counts in a group only from an approver, mention or not', () => {
    const policy = { allowFrom: ['*'], groups: { g: { requireMention: true, allowFrom: ['*'] } } }
    const from = (id: string) =>
      runSteps(
        input(message({ chat: 'group', conversation: 'g', sender: { id }, text: 'yes abcde' }), policy, {
          approval: approval(),
        }),
      )
    expect(from('member')).toMatchObject(refused('not_mentioned'))
    expect(from('boss')).toMatchObject({ decision: { go: 'consume', reason: 'verdict' } })
  })

  it('[S10.unknown-id-chat] [F7.relay-wrong-id] takes the right form with an unknown id for a sentence', () => {
    expect(boss('no sorry', null)).toMatchObject(PASSED)
    expect(boss('yes abcde', null)).toMatchObject(PASSED)
  })

  it('[I3.verdict-other-agent] [F7.relay-other-agent] [S10.id-not-authority] does not know the ids of an agent that this chat has no part in', () => {
    expect(boss('yes abcde', { agent: 'other' })).toMatchObject(PASSED)
  })

  it('[I3.verdict-decided] [S10.decided-id-answered] [F7.relay-late] [I3.verdict-expired] tells who comes late, and changes nothing', () => {
    const decided = boss('yes abcde', { state: 'relayed', cause: 'person', decidedBy: 'eve' })
    expect(decided).toEqual({
      decision: { go: 'answer', text: 'abcde: already answered by eve', reason: 'verdict_late' },
    })
    expect(boss('yes abcde', { state: 'expired', cause: 'expired' })).toMatchObject({
      decision: { text: 'abcde: expired' },
    })
    expect(boss('yes abcde', { expiresAt: 1_000 })).toMatchObject({ decision: { reason: 'verdict_late' } })
  })
})

describe('commands', () => {
  const reach = { attached: ['demo'], stoppable: [] }
  const say = (text: string) => runSteps(input(message({ text }), {}, { reach }))

  it('[S5.bang-commands] [S5.commands-not-to-model] go to Switchboard, with a slash or a bang', () => {
    for (const text of ['/new', '!new', ' /NEW ']) {
      expect(say(text)).toMatchObject({
        decision: { go: 'answer', reason: 'command' },
        effects: [{ kind: 'new_session', agent: 'demo' }],
      })
    }
    for (const text of ['/newer', 'new', '/new please', '//new']) expect(say(text)).toMatchObject(PASSED)
  })

  it('[I14.command-own-name] what is addressed to another bot is not obeyed', () => {
    for (const text of ['/stop@some_other_bot', '!new@x', '/back@', '/status@our_bot.evil', '/stop @other'])
      expect(say(text)).toMatchObject(PASSED)
  })

  it('[S2.steps-pure] [S5.status-command] [S5.stop-cancels] are carried out, and answered, by their effect', () => {
    const at = { integration: 'chat', conversation: message({}).conversation }
    const effects = [
      ['/status', { kind: 'tell_session', agent: 'demo', at, attached: ['demo'] }],
      ['!stop', { kind: 'cancel_session', agent: 'demo', at, stoppable: [] }],
      ['/back', { kind: 'route_back', at }],
    ] as const
    for (const [text, effect] of effects) {
      expect(say(text)).toMatchObject({ decision: { go: 'consume', reason: 'command' }, effects: [effect] })
    }
  })
})
