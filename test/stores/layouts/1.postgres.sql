CREATE TABLE public.webhook_delivery (
    key bytea NOT NULL,
    scope text NOT NULL,
    id text NOT NULL,
    event text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL,
    attempts integer NOT NULL,
    failures integer NOT NULL,
    not_before timestamp with time zone NOT NULL,
    purge_at timestamp with time zone NOT NULL,
    owner text,
    lease_ms double precision,
    max_crashes double precision,
    handlers jsonb DEFAULT '{}'::jsonb NOT NULL,
    error text,
    body bytea,
    proof text,
    CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['leased'::text, 'retry'::text, 'done'::text, 'dead'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02');
CREATE TABLE public.webhook_effect (
    key bytea NOT NULL,
    handler text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
INSERT INTO public.webhook_delivery VALUES ('\xa0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0', 'shop', 'whl_a0', 'order:paid', '2026-09-21 14:13:20+00', 'done', 1795337687079, 1, 0, '2026-11-22 08:55:47.079801+00', 'infinity', NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO public.webhook_delivery VALUES ('\xe4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4', 'shop', 'whl_e4', 'order:paid', '2026-09-21 14:13:20+00', 'done', 1795337687088, 1, 0, '2026-11-22 08:55:47.088057+00', 'infinity', NULL, NULL, NULL, '{}', NULL, NULL, NULL);
INSERT INTO public.webhook_delivery VALUES ('\xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1', 'shop', 'whl_b1', 'order:paid', '2026-09-21 14:13:20+00', 'retry', 1795337687100, 1, 1, '2026-11-22 08:54:47.108378+00', 'infinity', '843f40c5-e31e-47dd-bf31-298fdab9426e', 60000, 5, '{"\"[\\\"mail\\\"]\"": "[\"sent\"]"}', 'it threw', '\x7b226964223a226f72645f31227d', NULL);
INSERT INTO public.webhook_delivery VALUES ('\xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2', 'shop', 'whl_c2', 'order:paid', '2026-09-21 14:13:20+00', 'dead', 1795337687112, 1, 1, '2026-11-22 08:54:47.116176+00', 'infinity', '0e06a014-ed8e-4836-8076-7ee016ca82fd', 60000, 5, '{}', 'it threw', '\x7b226964223a226f72645f31227d', NULL);
INSERT INTO public.webhook_delivery VALUES ('\xd3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3', 'shop', 'whl_d3', 'order:paid', '2026-09-21 14:13:20+00', 'leased', 1795337687121, 1, 0, '2026-11-22 08:52:47.121281+00', 'infinity', 'b52b403c-32fe-4b9c-9d6c-7b40baca02df', -120000, 5, '{}', NULL, '\x7b226964223a226f72645f31227d', 'the proof');
INSERT INTO public.webhook_effect VALUES ('\xf5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5', 'order:paid', '2026-11-22 08:54:47.124943+00');
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.webhook_effect
    ADD CONSTRAINT webhook_effect_pkey PRIMARY KEY (key, handler);
CREATE INDEX webhook_delivery_open ON public.webhook_delivery USING btree (state, key) WHERE (state <> 'done'::text);
CREATE INDEX webhook_delivery_purge_at ON public.webhook_delivery USING btree (purge_at);
