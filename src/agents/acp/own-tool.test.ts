// Which calls count as our own tools, so that no person is asked: an exact name with the arguments of that tool.
import { expect, it } from 'vitest'
import { isOwnTool } from './own-tool.ts'
import { createToolCalls } from './tool-calls.ts'

const own = (over: object) =>
  isOwnTool(
    createToolCalls().merge({
      ...{ toolCallId: 'c', title: 'mcp__switchboard__reply', kind: 'other', rawInput: { text: 'hello' } },
      ...over,
    }),
  )

it('[I35.b16] a call is one of ours only if nothing about it could be another tool', () => {
  expect(own({})).toBe(true)
  expect(own({ title: 'mcp__switchboard__fetch_messages', rawInput: {} })).toBe(true)
  expect(own({ name: 'reply', _meta: { claudeCode: { toolName: 'mcp__switchboard__reply' } } })).toBe(true)
  for (const over of [
    { title: 'mcp__switchboard__wipe' },
    { title: 'mcp__switchboard__reply\nrm -rf ~' },
    { title: ` mcp__switchboard__reply` },
    { title: 'mcp__other__reply' },
    { kind: 'execute' },
    { kind: 'edit' },
    { rawInput: { command: 'rm' } },
    { rawInput: 'rm' },
    { rawInput: null },
    { content: [{ type: 'diff', path: '/a', newText: 'b' }] },
    { locations: [{ path: '/a' }] },
    { command: 'rm' },
    { content: 'rm' },
  ])
    expect([over, own(over as object)]).toEqual([over, false])
})
