// The thread of a mail, and the agent that a plus-address selects.
import { describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import { boundAt } from '../../core/people/routing.ts'
import { testAgent } from '../../testing/test-settings.ts'
import { subjectOf } from './mail/addresses.ts'
import { readHeaders } from './mail/headers.ts'
import { createMessageIds } from './mail/message-ids.ts'
import { answerHeaders, partsOfThread, threadOf } from './threads.ts'

const ids = createMessageIds('gw.test')
const OURS = ids.of('o_t_1')
const KATE = 'kate@home.test'
const entry = (more: Partial<TranscriptEntry>): TranscriptEntry => ({
  ...{
    seq: 1,
    direction: 'out',
    id: 'o_t_1',
    conversation: KATE,
    at: 0,
    text: 'x',
    state: 'sent',
    reason: null,
  },
  ...more,
})

async function threadIn(lines: readonly string[], known: readonly TranscriptEntry[] = []) {
  const fields = readHeaders(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`))
  const transcript = async () => known
  const threading = { address: 'bot@gw.test', ids, transcript }
  return threadOf(threading, { sender: KATE, fields, id: '<own@home.test>', subject: subjectOf(fields) })
}

describe('threads', () => {
  it('[I35.b31] a mail lists what was said before it, and never its own id', async () => {
    const said = [
      entry({ direction: 'in', id: 'i_1', platformMessageId: '<root@x>', thread: '<root@x>' }),
      entry({ seq: 2, thread: '<root@x>' }),
      entry({ seq: 3, direction: 'in', id: 'i_2', platformMessageId: '<two@x> 7.2', thread: '<root@x>' }),
      // The transcript contains the mail that is being sent.
      entry({ seq: 4, id: 'o_t_2', state: 'sending', thread: '<root@x>' }),
    ]
    const to = { integration: 'em', conversation: KATE, thread: '<root@x>' }
    const threading = { address: 'bot@gw.test', ids, transcript: async () => said }
    expect(await answerHeaders(threading, { to, key: 'o_t_2' }, undefined)).toMatchObject({
      inReplyTo: '<two@x>',
      references: ['<root@x>', OURS, '<two@x>'],
    })
  })

  it('[I19.thread-in] a mail begins one, an answer belongs to the first of its references', async () => {
    expect(await threadIn(['Subject: a'])).toEqual({ thread: '<own@home.test>' })
    expect(await threadIn(['References: <a@x> <b@x>', 'In-Reply-To: <b@x>'])).toEqual({
      thread: '<a@x>',
      replyTo: { messageId: '<b@x>' },
    })
  })

  it('[I19.thread-in] [I19.claim-token] an answer to ours is known by the row, by the server’s own id, and by a token where headers are lost', async () => {
    const ours = entry({ thread: '<root@x>', platformMessageId: '<server@mx>' })
    const known = { thread: '<root@x>', replyTo: { messageId: OURS } }
    expect(await threadIn([`In-Reply-To: ${OURS}`], [ours])).toEqual(known)
    expect(await threadIn(['In-Reply-To: <server@mx>'], [ours])).toEqual(known)
    expect(await threadIn([`Subject: AW: hello [ref:${ids.tokenOf('o_t_1')}]`], [ours])).toEqual(known)
    expect(await threadIn([`Delivered-To: bot+ref.${ids.tokenOf('o_t_1')}@gw.test`], [ours])).toEqual(known)
    // The mail that began the thread has no references.
    expect(await threadIn([`In-Reply-To: ${OURS}`], [entry({})])).toMatchObject({
      thread: OURS,
    })
  })

  it('[I19.plus-agent] a plus-address chooses the agent whose binding names it', async () => {
    const { thread } = await threadIn(['Delivered-To: bot+ops@gw.test'])
    expect(partsOfThread(thread)).toEqual({ tag: 'ops', root: '<own@home.test>' })
    const bound = (id: string, conversations?: readonly string[]) => ({
      ...testAgent(id, ['mail']),
      bindings: [
        {
          plugin: 'email',
          instance: 'mail',
          allowedChannelServers: [],
          ...(conversations ? { conversations } : {}),
        },
      ],
    })
    const agents = [bound('rest'), bound('ops', ['*/+ops']), bound('kates', [KATE])] as never
    const at = (of: string) =>
      boundAt({ agents }, { integration: 'mail', conversation: 'anna@home.test', thread: of })?.agent
    expect(at(thread)).toBe('ops')
    expect(at('+opsx <a@x>')).toBe('rest')
    expect(at('<a@x>')).toBe('rest')
    expect(boundAt({ agents }, { integration: 'mail', conversation: KATE, thread: '<a@x>' })?.agent).toBe(
      'kates',
    )
  })
})
