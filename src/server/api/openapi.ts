// Generates OpenAPI 3.1 from the route table, so that the description matches the routes.
import { z } from 'zod'
import { ERROR_TABLE } from '../../contract/index.ts'
import type { ServedOperation } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

export function openApi(routes: readonly ServedOperation[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const methods = paths[route.path] ?? {}
    methods[route.method.toLowerCase()] = operation(route)
    paths[route.path] = methods
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Switchboard', version: '1', description: 'The operator’s desk.' },
    servers: [{ url: '/' }],
    security: [{ admin: [] }],
    paths,
    components: {
      securitySchemes: { admin: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema() },
    },
  }
}

function operation(route: ServedOperation): Json {
  const schema = route.body === undefined ? null : inputSchema(route.body)
  return {
    operationId: operationId(route),
    summary: route.summary,
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(schema === null
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema } } } }),
    responses: {
      '200': { description: 'Done.' },
      default: {
        description: 'It did not hold; `code` says why.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function operationId(route: ServedOperation): string {
  const words = route.path
    .replace('/api/', '')
    .split(/[/{}.]+/)
    .filter((word) => word !== '')
  return [route.method.toLowerCase(), ...words].join('_')
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: z.ZodType | undefined): readonly Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = inputSchema(query) as {
    properties?: Record<string, Json>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function inputSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json
  return rest
}

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['ok', 'code', 'error'],
    properties: {
      ok: { const: false },
      code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
      error: { type: 'string' },
      hint: { type: 'string' },
    },
  }
}
