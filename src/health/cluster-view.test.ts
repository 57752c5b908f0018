// The cluster for people: the state of a link across all nodes, and problems between them.
import { describe, expect, it } from 'vitest'
import { defined, type NodeRow, type NodeView } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'
import { CHECKS, type DeliveryFacts } from './checks.ts'
import { linkAnywhere, nodeViews } from './cluster-view.ts'

const NOW = 1_700_000_000_000

function row(owner: string, more: Partial<NodeRow> = {}): NodeRow {
  const [node = ''] = owner.split('/')
  return {
    ...{
      owner,
      node,
      version: '1',
      url: '',
      digest: 'd',
      skewMs: 0,
      watched: false,
      links: [],
      activity: {},
    },
    ...{ agents: [], startedAt: NOW - 60_000, leftAt: null, alive: true, seenAt: NOW },
    ...more,
  }
}

const at = (owner: string, state: string, detail?: string) =>
  row(owner, { links: [{ integration: 'tg', state, ...defined({ detail }) }] })
const WAITING = { link: 'waiting', detail: 'another node polls for this integration' }

describe('[I6.link-anywhere] a link of three nodes', () => {
  it('is what it is where it is held, up or down', () => {
    const down = at('b/1', 'down', 'Telegram does not know the token')
    expect(linkAnywhere(WAITING, 'tg', [at('c/1', 'waiting'), down])).toEqual({
      link: 'down',
      detail: 'at node b: Telegram does not know the token',
    })
    expect(linkAnywhere(WAITING, 'tg', [at('c/1', 'connecting'), down])).toMatchObject({ link: 'down' })
    expect(linkAnywhere(WAITING, 'tg', [at('c/1', 'waiting'), at('b/1', 'up')])).toEqual({
      link: 'up',
      detail: 'at node b',
    })
    expect(linkAnywhere(WAITING, 'tg', [at('b/1', 'connecting')])).toEqual({
      link: 'connecting',
      detail: 'at node b',
    })
  })

  it('is our own where it is held here, or nobody holds it', () => {
    const own = { link: 'down', detail: 'the wire is cut' }
    expect(linkAnywhere(own, 'tg', [at('b/1', 'waiting')])).toEqual(own)
    expect(linkAnywhere(WAITING, 'tg', [at('b/1', 'waiting')])).toEqual(WAITING)
  })
})

const differences = (nodes: readonly NodeView[]) =>
  CHECKS['nodes-differ'].look(
    { cluster: { nodes, warnings: [] } } as unknown as DeliveryFacts,
    wordsIn().health.checks['nodes-differ'],
  )

describe('[I6.one-name] two daemons of one name', () => {
  it('are both shown, and told as a problem', () => {
    const rows = [row('a/1'), row('a/2', { startedAt: NOW }), row('b/1')]
    const views = nodeViews(rows, NOW)
    expect(views.map(({ node, state }) => `${node} ${state}`)).toEqual(['a up', 'a up', 'b up'])
    expect(differences(views).map(({ text }) => text)).toEqual([
      'two running daemons are called a: give them hostnames or data folders that differ',
    ])
  })

  it('are one when the former was killed', () => {
    const rows = [row('a/1', { alive: false }), row('a/2', { startedAt: NOW })]
    const views = nodeViews(rows, NOW)
    expect(views.map(({ node, state }) => `${node} ${state}`)).toEqual(['a up'])
    expect(differences(views)).toEqual([])
  })
})
