// Places at an agent: lanes of a round share them, and lanes that waited longest get them first.
import { describe, expect, it } from 'vitest'
import type { AgentConnector, Work } from '../../../contract/index.ts'
import type { Roster } from '../../roster.ts'
import { createAgentCapacity } from './agent-capacity.ts'
import type { LaneHold } from './lane-holds.ts'

const REACHED = { isClosed: () => false, tried: () => undefined }

function scene(room: (session: string) => number) {
  const connector = { room } as unknown as AgentConnector
  const post = { connector } as unknown as ReturnType<Roster['get']>
  const rooms = createAgentCapacity({
    ...REACHED,
    roster: { get: (agent) => (agent === 'kate' ? post : undefined) },
    holds: { get: () => undefined as LaneHold | undefined },
  })
  const lanes = (count: number): readonly Work[] =>
    Array.from({ length: count }, (_, n) => ({ lane: `s${n}`, scope: 'kate' }))
  return { rooms, lanes }
}

describe('[I23.rooms-dealt] the places of one agent', () => {
  it('are shared by all lanes of a round, so that one commit fills them', () => {
    const { rooms, lanes } = scene(() => 256)
    const dealt = rooms.deal(lanes(32))
    expect(dealt).toEqual(Array.from({ length: 32 }, () => 8))
  })

  it('are no more than there are, and one lane alone gets them all', () => {
    const { rooms, lanes } = scene(() => 3)
    expect(rooms.deal(lanes(5))).toEqual([1, 1, 1, 0, 0])
    expect(rooms.deal(lanes(1))).toEqual([3])
  })

  it('are not asked for again by a lane that got none, while somebody holds a promise of them', () => {
    const { rooms, lanes } = scene(() => 1)
    const [first, second] = lanes(2) as [Work, Work]
    expect(rooms.deal([first, second])).toEqual([1, 0])
    expect(rooms.waits(second)).toBe(true)
    rooms.over(first)
    expect(rooms.next('kate')).toEqual([second])
    expect(rooms.waits(second), 'nobody is promised it any more').toBe(false)
  })

  it('wake as many that wait as one round takes, those that waited longest first, and leave the others waiting', () => {
    let room = 0
    const { rooms, lanes } = scene(() => room)
    const all = lanes(100)
    for (const work of all) expect(rooms.waits(work)).toBe(true)
    expect(rooms.next('kate')).toEqual([])
    room = 1
    expect(rooms.next('kate')).toEqual(all.slice(0, 32))
    expect(rooms.next('kate')).toEqual(all.slice(32, 64))
  })

  it('[I23.long-queue] are the rest of each window where hand-overs may overlap, and no lane shares its own', () => {
    const connector = { overlaps: true, window: 8 } as unknown as AgentConnector
    const post = { connector } as unknown as ReturnType<Roster['get']>
    const flights = new Map([['t1', { written: false }]])
    const rooms = createAgentCapacity({
      ...REACHED,
      roster: { get: () => post },
      holds: { get: (lane) => (lane === 's0' ? ({ flights } as unknown as LaneHold) : undefined) },
    })
    const lanes = ['s0', 's1'].map((lane) => ({ lane, scope: 'kate' }))
    expect(rooms.deal(lanes)).toEqual([7, 8])
  })
})
