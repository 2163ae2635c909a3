import { readFileSync } from 'node:fs';
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readEnvironment } from '../../src/config/environment.ts';
import { findSuspiciousVariables } from '../../src/config/suspicious-env.ts';

const read = (file: string) =>
  readFileSync(new URL(`../../examples/kubernetes/${file}`, import.meta.url), 'utf8');

const kustomization = z
  .strictObject({
    apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
    kind: z.literal('Kustomization'),
    namespace: z.string(),
    resources: z.array(z.string()),
    labels: z.array(z.strictObject({ pairs: z.record(z.string(), z.string()) })),
    configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
    secretGenerator: z.array(z.strictObject({ name: z.string(), envs: z.array(z.string()) })),
    images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
  })
  .parse(parse(read('kustomization.yaml')));

const manifests: readonly unknown[] = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(file)).map((document): unknown => document.toJS()),
);

/** A value that records which paths of it are read. */
function recordReads(value: unknown, path: string, readPaths: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get: (target, name) => {
      const inner = `${path}/${String(name)}`;
      readPaths.add(inner);
      return recordReads(Reflect.get(target, name), inner, readPaths);
    },
  });
}

function pathsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    `${path}/${name}`,
    ...pathsIn(inner, `${path}/${name}`),
  ]);
}

/**
 * Returns the errors of Kubernetes' own schemas for a manifest. They ignore unknown parts, such as a misspelt name:
 * those are the parts that the validation never reads.
 */
function objections(manifest: unknown): string[] {
  const model = modelOf(manifest);
  if (!model) return ['another kind'];
  const readPaths = new Set<string>();
  for (const [name, value] of Object.entries(model))
    Reflect.set(model, name, recordReads(value, `/${name}`, readPaths.add(`/${name}`)));
  try {
    model.validate();
  } catch (error) {
    return [String(error)];
  }
  return pathsIn(manifest).filter((path) => !readPaths.has(path));
}

function modelOf(manifest: unknown) {
  if (Deployment.is(manifest)) return new Deployment(manifest);
  if (PodDisruptionBudget.is(manifest)) return new PodDisruptionBudget(manifest);
  return Service.is(manifest) ? new Service(manifest) : null;
}

const deployments = manifests.filter((one) => Deployment.is(one));
const containers = deployments.flatMap((one) => one.spec?.template.spec?.containers ?? []);

describe('the manifests for Kubernetes', () => {
  it('match its schemas', () => {
    expect(manifests).toHaveLength(5);
    expect(manifests.flatMap(objections)).toEqual([]);
    const [first] = deployments;
    const wrong = { ...first, spec: { ...first?.spec, replicas: 'two' } };
    expect(objections(wrong)).toEqual([expect.stringContaining('replicas must be integer')]);
    const misspelt = { ...first, spec: { ...first?.spec, minReadySecond: 5 } };
    expect(objections(misspelt)).toEqual(['/spec/minReadySecond']);
  });

  it('reference each other, and only existing objects', () => {
    const maps = kustomization.configMapGenerator.map(({ name }) => name);
    const secrets = kustomization.secretGenerator.map(({ name }) => name);
    for (const { metadata, spec } of deployments) {
      expect(spec?.selector.matchLabels, metadata?.name).toEqual(spec?.template.metadata?.labels);
      expect(spec?.template.spec?.volumes?.flatMap(({ configMap }) => configMap?.name ?? [])).toEqual(maps);
      const budget = manifests.find(
        (one): one is PodDisruptionBudget =>
          PodDisruptionBudget.is(one) && one.metadata?.name === metadata?.name,
      );
      expect(budget?.spec?.selector).toEqual(spec?.selector);
    }
    for (const { image, envFrom } of containers) {
      expect(kustomization.images.map(({ name }) => name)).toContain(image);
      expect(envFrom?.map(({ secretRef }) => secretRef?.name)).toEqual(secrets);
    }
    const services = manifests.filter((one) => Service.is(one));
    expect(services.map(({ spec }) => spec?.selector)).toEqual([deployments[0]?.spec?.selector.matchLabels]);
  });

  it('set only known variables, and a read-only root', () => {
    const lines = read('secret.env.example').matchAll(/^(\w+)=(.*)$/gm);
    const secrets = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
    for (const { env = [], securityContext, command, args } of containers) {
      const set = Object.fromEntries(env.map(({ name, value }) => [name, value]));
      const all = { ...secrets, RECORDER_TOKEN: 'a-token-as-long-as-one-of-its-own', ...set };
      expect(findSuspiciousVariables(all)).toEqual([]);
      expect(readEnvironment(all)).toMatchObject({ host: '0.0.0.0', logJson: true });
      expect(securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(command).toBe(undefined);
      expect(args?.slice(0, 3)).toEqual(['node', 'dist/cli.js', 'up']);
    }
  });
});
