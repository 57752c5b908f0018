// A tool and its outcome in MCP's form, for any transport.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { NewFile, ToolOutcome } from '../../contract/index.ts'
import { type AnswerWay, type InputSchema, inputSchemaOf, sessionSchemaOf, type Tool } from '../tool.ts'

/** Made once for each tool, because schemas do not change. */
export const shownTool = once(inputSchemaOf)
/** For a caller that speaks for one session. */
export const shownSessionTool = once(sessionSchemaOf)

function once(schemaOf: (tool: Tool) => InputSchema) {
  const made = new Map<string, ReturnType<typeof describe>>()
  return (tool: Tool, way: AnswerWay = 'tools') => {
    const key = `${tool.name} ${way}`
    const known = made.get(key) ?? describe(tool, schemaOf(tool), way)
    made.set(key, known)
    return known
  }
}

function describe(tool: Tool, inputSchema: InputSchema, way: AnswerWay) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.describe?.(way) ?? tool.description,
    inputSchema,
    annotations: { title: tool.title, readOnlyHint: tool.readOnly },
    _meta: {
      'anthropic/maxResultSizeChars': tool.maxResultChars,
      ...(tool.alwaysLoad ? { 'anthropic/alwaysLoad': true } : {}),
    },
  }
}

export function shownResult(outcome: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text: outcome.text }, ...(outcome.files ?? []).map(shownFile)],
    structuredContent: { ...outcome.structured },
    ...(outcome.isError ? { isError: true } : {}),
  }
}

function shownFile({ name, mime, bytes }: NewFile, index: number): CallToolResult['content'][number] {
  const data = Buffer.from(bytes).toString('base64')
  if (mime.startsWith('image/')) return { type: 'image', data, mimeType: mime }
  const uri = `attachment:///${index + 1}/${encodeURIComponent(name)}`
  return { type: 'resource', resource: { uri, mimeType: mime, blob: data } }
}

/**
 * The same for a host whose model reads the result. Claude Code shows the structured content instead of the text, so
 * the fields for programs are a separate content block.
 */
export function shownText({ text, isError, structured, note }: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text }, ...(note === undefined ? [] : [{ type: 'text' as const, text: note }])],
    _meta: { 'switchboard/result': { ...structured } },
    ...(isError ? { isError: true } : {}),
  }
}
